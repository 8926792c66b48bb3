import KelvinGraph

extension ConformanceCase {
  package static let cumulativeSum: [ConformanceCase] =
    [(false, false), (true, false), (false, true), (true, true)].flatMap { isExclusive, isReversed in
      let suffix = (isExclusive ? " exclusive" : "") + (isReversed ? " reversed" : "")
      func along(_ axis: Int) -> CumulativeSum {
        CumulativeSum(axis: axis, isExclusive: isExclusive, isReversed: isReversed)
      }
      return [
        node("rows" + suffix, along(1), .input([3, 37])),
        node("middle" + suffix, along(1), .input([2, 5, 7]), scalar: .float16),
        node("int32" + suffix, along(0), .exactly(steps(.int32, [5, 3]))),
        node("int64" + suffix, along(1), .exactly(steps(.int64, [2, 11]))),
      ]
    } + [node("empty", CumulativeSum(axis: 0), .input([0, 3]))]
}
