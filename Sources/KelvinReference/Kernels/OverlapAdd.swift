import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addOverlapAdd() {
    add(OverlapAdd.self) { op, inputs in [op.sums(inputs, from: 0, +)] }
  }
}

extension OverlapAdd: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? { sums(inputs, from: 0, &+) }

  fileprivate func sums<Element>(
    _ inputs: ReferenceInputs<Element>, from zero: Element, _ add: (Element, Element) -> Element
  ) -> [Element] {
    let (source, target) = (Shape(block + counts), Shape(image))
    var y = [Element](repeating: zero, count: inputs.outputs[0].count)
    for (number, position) in Positions(Shape([y.count / max(target.count, 1)] + source.dimensions)).enumerated() {
      let place = image.indices.map { axis in
        position[1 + axis] * dilations[axis] + position[1 + image.count + axis] * strides[axis] - before[axis]
      }
      guard image.indices.allSatisfy({ (0..<image[$0]).contains(place[$0]) }) else { continue }
      let offset = position[0] * target.count + target.offset(place)
      y[offset] = add(y[offset], inputs.values[0][number])
    }
    return y
  }
}
