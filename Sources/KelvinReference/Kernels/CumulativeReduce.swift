import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addCumulativeReduce() {
    add(CumulativeReduce.self) { op, inputs in
      switch op.function {
      case .sum: [op.along(inputs, from: 0, +)]
      case .product: [op.along(inputs, from: 1, *)]
      }
    }
  }
}

extension CumulativeReduce: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
    switch function {
    case .sum: along(inputs, from: 0, &+)
    case .product: along(inputs, from: 1, &*)
    }
  }

  fileprivate func along<Element>(
    _ inputs: ReferenceInputs<Element>, from neutral: Element, _ combine: (Element, Element) -> Element
  ) -> [Element] {
    let rows = Rows(inputs.shape(0), along: axis)
    let x = inputs.values[0]
    var y = x
    for row in 0..<rows.count {
      var total = neutral
      for step in 0..<rows.length {
        let offset = rows.offset(row, isReversed ? rows.length - 1 - step : step)
        let next = combine(total, x[offset])
        y[offset] = isExclusive ? total : next
        total = next
      }
    }
    return y
  }
}
