import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addScatterElements() {
    add(ScatterElements.self) { (op, inputs) throws(DeviceError) in [try op.scattered(inputs, op.reduction.combine)] }
  }
}

extension ScatterElements: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]? {
    try scattered(inputs, reduction.combine)
  }

  fileprivate func scattered<Element: ReferenceElement>(
    _ inputs: ReferenceInputs<Element>, _ combine: (Element, Element) -> Element
  ) throws(DeviceError) -> [Element] {
    let shape = inputs.shape(0)
    var y = inputs.values[0]
    for (update, position) in Positions(inputs.shape(1)).enumerated() {
      if skipsOutside, !shape.has(inputs.values[1][update], along: axis) { continue }
      var target = position
      target[axis] = try shape.index(inputs.values[1][update], along: axis, node: inputs.node)
      let offset = shape.offset(target)
      y[offset] = combine(y[offset], inputs.values[2][update])
    }
    return y
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

  func combine<Word: FixedWidthInteger>(_ element: Word, _ update: Word) -> Word {
    switch self {
    case .replace: update
    case .add: element &+ update
    case .multiply: element &* update
    case .minimum: min(element, update)
    case .maximum: max(element, update)
    }
  }
}
