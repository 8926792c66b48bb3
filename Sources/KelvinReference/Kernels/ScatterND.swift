import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addScatterND() {
    add(ScatterND.self) { (op, inputs) throws(DeviceError) in [try op.scattered(inputs, op.reduction.combine)] }
  }
}

extension ScatterND: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]? {
    try scattered(inputs, reduction.combine)
  }

  fileprivate func scattered<Element: ReferenceElement>(
    _ inputs: ReferenceInputs<Element>, _ combine: (Element, Element) -> Element
  ) throws(DeviceError) -> [Element] {
    let (shape, indices) = (inputs.shape(0), inputs.shape(1))
    let depth = indices[indices.rank - 1]
    let inner = shape.dimensions[depth...].reduce(1, *)
    var y = inputs.values[0]
    tuples: for tuple in 0..<indices.dimensions.dropLast().reduce(1, *) {
      var position: [Int] = []
      for axis in 0..<depth {
        let index = inputs.values[1][tuple * depth + axis]
        if skipsOutside, !shape.has(index, along: axis) { continue tuples }
        position.append(try shape.index(index, along: axis, node: inputs.node))
      }
      let start = Shape(Array(shape.dimensions[..<depth])).offset(position) * inner
      for index in 0..<inner {
        y[start + index] = combine(y[start + index], inputs.values[2][tuple * inner + index])
      }
    }
    return y
  }
}
