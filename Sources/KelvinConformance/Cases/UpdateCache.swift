import KelvinGraph

extension ConformanceCase {
  package static let updateCache: [ConformanceCase] = [ScalarType.float32, .float16].flatMap { scalar in
    func lengths(_ index: ScalarType, _ values: [Double]) -> CaseOperand {
      .exactly(Tensor(TensorType(index, [values.count]), rounding: values))
    }
    return [
      node(
        "of one token",
        UpdateCache(
          batch: 1, heads: 3, rows: 1, width: 8, valueWidth: 8, firstRow: 0, key: [24, 0, 8, 0, 1],
          value: [48, 0, 8, 0, 1]), .input([1, 3, 11, 8]), .input([1, 3, 11, 8]), .input([1, 1, 72]),
        .input([1, 1, 72]), lengths(.int32, [10]), scalar: scalar),
      // Each batch has rows at its own place; some are outside.
      node(
        "of several tokens",
        UpdateCache(
          batch: 3, heads: 2, rows: 3, width: 5, valueWidth: 7, firstRow: -2, key: [0, 30, 5, 10, 1],
          value: [0, 42, 21, 7, 1]), .input([3, 2, 9, 5]), .input([3, 2, 9, 7]), .input([3, 3, 2, 5]),
        .input([3, 2, 3, 7]), lengths(.int64, [1, 4, 9]), scalar: scalar),
      node(
        "of different lengths",
        UpdateCache(
          batch: 1, heads: 1, rows: 2, width: 3, valueWidth: 3, firstRow: 0, key: [0, 0, 0, 1, 2],
          value: [0, 0, 0, 3, 1]), .input([1, 1, 4, 3]), .input([1, 1, 6, 3]), .input([3, 2]), .input([2, 3]),
        lengths(.int32, [3]), scalar: scalar),
      node(
        "beyond all rows",
        UpdateCache(
          batch: 2, heads: 1, rows: 1, width: 4, valueWidth: 4, firstRow: 1, key: [0, 4, 0, 0, 1],
          value: [0, 4, 0, 0, 1]), .input([2, 1, 3, 4]), .input([2, 1, 3, 4]), .input([2, 4]), .input([2, 4]),
        lengths(.int32, [2_147_483_647, -2_147_483_648]), scalar: scalar),
    ]
  }
}
