import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addCumulativeProduct() {
    add(CumulativeProduct.self) { op, inputs in [op.products(inputs, from: 1, *)] }
  }
}

extension CumulativeProduct: IntegerOperator {
  func integers<Word: ReferenceWord>(_ inputs: ReferenceInputs<Word>) -> [Word]? { products(inputs, from: 1, &*) }

  fileprivate func products<Element>(
    _ inputs: ReferenceInputs<Element>, from one: Element, _ multiply: (Element, Element) -> Element
  ) -> [Element] {
    let lines = Lines(inputs.shape(0), along: axis)
    let x = inputs.values[0]
    var y = x
    for line in 0..<lines.count {
      var product = one
      for step in 0..<lines.length {
        let place = lines.place(line, isReversed ? lines.length - 1 - step : step)
        let next = multiply(product, x[place])
        y[place] = isExclusive ? product : next
        product = next
      }
    }
    return y
  }
}
