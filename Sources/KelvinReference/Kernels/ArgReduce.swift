import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addArgReduce() {
    add(ArgReduce.self) { op, inputs in [op.indices(inputs, isUnordered: \.isNaN).map(Double.init)] }
  }
}

extension ArgReduce: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
    indices(inputs) { _ in false }.map { Word(truncatingIfNeeded: $0) }
  }

  /// - Parameter isUnordered: whether an element is not-a-number, which takes precedence over all numbers.
  fileprivate func indices<Element: Comparable>(
    _ inputs: ReferenceInputs<Element>, isUnordered: (Element) -> Bool
  ) -> [Int] {
    let rows = Rows(inputs.shape(0), along: axis)
    let x = inputs.values[0]
    return (0..<rows.count).map { row in
      var best = 0
      for index in 1..<max(rows.length, 1) {
        let (candidate, current) = (x[rows.offset(row, index)], x[rows.offset(row, best)])
        let isSame = candidate == current || (isUnordered(candidate) && isUnordered(current))
        let isBeyond = function == .maximum ? candidate > current : candidate < current
        let isBetter = isUnordered(candidate) ? !isUnordered(current) : isBeyond
        if isBetter || (takesLast && isSame) { best = index }
      }
      return best
    }
  }
}
