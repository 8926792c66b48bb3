import KelvinGraph

extension ConformanceCase {
  package static let cumulativeSum: [ConformanceCase] =
    [(false, false), (true, false), (false, true), (true, true)].flatMap { isExclusive, isReversed in
      let suffix = (isExclusive ? " exclusive" : "") + (isReversed ? " reversed" : "")
      return [
        node(
          "rows" + suffix, CumulativeSum(axis: 1, isExclusive: isExclusive, isReversed: isReversed), .input([3, 37])),
        node(
          "middle" + suffix, CumulativeSum(axis: 1, isExclusive: isExclusive, isReversed: isReversed),
          .input([2, 5, 7]), scalar: .float16),
        node(
          "int32" + suffix, CumulativeSum(axis: 0, isExclusive: isExclusive, isReversed: isReversed),
          .exactly(steps(.int32, [5, 3]))),
        node(
          "int64" + suffix, CumulativeSum(axis: 1, isExclusive: isExclusive, isReversed: isReversed),
          .exactly(steps(.int64, [2, 11]))),
      ]
    } + [node("empty", CumulativeSum(axis: 0), .input([0, 3]))]
}
