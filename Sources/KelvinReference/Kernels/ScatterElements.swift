import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addScatterElements() {
    add(ScatterElements.self) { op, inputs in
      let shape = inputs.shape(0)
      var y = inputs.values[0]
      for (update, position) in Positions(inputs.shape(1)).enumerated() {
        guard let index = shape.validIndex(inputs.values[1][update], along: op.axis) else { continue }
        var target = position
        target[op.axis] = index
        let place = shape.offset(target)
        y[place] = op.reduction.combine(y[place], inputs.values[2][update])
      }
      return [y]
    }
  }
}

extension ScatterReduction {
  func combine(_ element: Double, _ update: Double) -> Double {
    switch self {
    case .replace: update
    case .add: element + update
    case .multiply: element * update
    case .minimum: element.isNaN || update.isNaN ? .nan : min(element, update)
    case .maximum: element.isNaN || update.isNaN ? .nan : max(element, update)
    }
  }
}
