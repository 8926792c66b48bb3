import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addArgReduce() {
    add(ArgReduce.self) { op, inputs in [op.places(inputs, isUnordered: \.isNaN).map(Double.init)] }
  }
}

extension ArgReduce: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
    places(inputs) { _ in false }.map { Word(truncatingIfNeeded: $0) }
  }

  /// - Parameter isUnordered: whether an element is not-a-number, which takes precedence over all numbers.
  fileprivate func places<Element: Comparable>(
    _ inputs: ReferenceInputs<Element>, isUnordered: (Element) -> Bool
  ) -> [Int] {
    let lines = Lines(inputs.shape(0), along: axis)
    let x = inputs.values[0]
    return (0..<lines.count).map { line in
      var best = 0
      for place in 1..<max(lines.length, 1) {
        let (candidate, current) = (x[lines.place(line, place)], x[lines.place(line, best)])
        let isSame = candidate == current || (isUnordered(candidate) && isUnordered(current))
        let isBeyond = function == .maximum ? candidate > current : candidate < current
        let isBetter = isUnordered(candidate) ? !isUnordered(current) : isBeyond
        if isBetter || (takesLast && isSame) { best = place }
      }
      return best
    }
  }
}
