import KelvinGraph

extension ConformanceCase {
  package static let cumulativeReduce: [ConformanceCase] =
    CumulativeReduce.Function.allCases.flatMap { function in
      [(false, false), (true, false), (false, true), (true, true)].flatMap { runs(function, $0, $1) }
    } + [node("long product", CumulativeReduce(.product, axis: 1), .ranged([2, 1009], 0.97...1.03))]

  private static func runs(
    _ function: CumulativeReduce.Function, _ isExclusive: Bool, _ isReversed: Bool
  ) -> [ConformanceCase] {
    let suffix = (isExclusive ? " exclusive" : "") + (isReversed ? " reversed" : "")
    func along(_ name: String, _ axis: Int, _ x: CaseOperand, scalar: ScalarType = .float32) -> ConformanceCase {
      let op = CumulativeReduce(function, axis: axis, isExclusive: isExclusive, isReversed: isReversed)
      return node("\(function.rawValue) \(name)\(suffix)", op, x, scalar: scalar)
    }
    let types: [ScalarType] = [.int8, .uint8, .int16, .uint16, .int32, .uint32, .int64]
    let integers = types.map { along($0.rawValue, 1, .exactly(.odd($0, [2, 13, 3]))) }
    // Rows that GPU workgroups share, some in several parts. Products of so many factors may overflow or underflow.
    let long =
      function == .product
      ? []
      : [
        along("long rows", 1, .ranged([2, 5003], 0.98...1.02)),
        along("long columns", 1, .ranged([1, 901, 21], 0.98...1.02)),
        along("long rows", 1, .ranged([3, 2111], 0.98...1.02), scalar: .float16),
      ]
    // Factors around 1, so that no result is negligible beside the largest one.
    return integers + long + [
      along("rows", 1, .ranged([3, 37], 0.75...1.25)),
      along("middle", 1, .ranged([2, 5, 7], 0.75...1.25), scalar: .float16),
      along("many columns", 1, .ranged([2, 5, 301], 0.75...1.25)),
      along("lines", 1, .ranged([2, 3, 1031], 0.5...2)),
      along("signs", 1, .exactly(Tensor([Float(2), 0, -3, 5, -0.5, 7, 1, 0], [2, 4]))),
      along("ones", 0, .ranged([1, 1], 0.5...2)),
      along("empty", 0, .input([0, 3])),
      along("empty lines", 0, .input([3, 0])),
    ]
  }
}
