import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addCumulativeSum() {
    add(CumulativeSum.self) { op, inputs in [op.sums(inputs, from: 0, +)] }
  }
}

extension CumulativeSum: IntegerOperator {
  func integers<Word: ReferenceWord>(_ inputs: ReferenceInputs<Word>) -> [Word]? { sums(inputs, from: 0, &+) }

  fileprivate func sums<Element>(
    _ inputs: ReferenceInputs<Element>, from zero: Element, _ add: (Element, Element) -> Element
  ) -> [Element] {
    let lines = Lines(inputs.shape(0), along: axis)
    let x = inputs.values[0]
    var y = x
    for line in 0..<lines.count {
      var sum = zero
      for step in 0..<lines.length {
        let place = lines.place(line, isReversed ? lines.length - 1 - step : step)
        let next = add(sum, x[place])
        y[place] = isExclusive ? sum : next
        sum = next
      }
    }
    return y
  }
}
