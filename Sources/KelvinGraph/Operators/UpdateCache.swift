/// A decoder's caches of keys and values, with the rows of new tokens written over rows at positions that depend on data.
package struct UpdateCache: Operator {
  package static let name = "update_cache"
  package var batch: Int
  package var heads: Int
  /// The number of rows that are written for each head.
  package var rows: Int
  package var width: Int
  package var valueWidth: Int
  /// The first row written in a batch is number `length + firstRow`.
  package var firstRow: Int
  /// The offset of the new rows in their tensor, and their strides from batch to batch, head to head, row to row and
  /// element to element.
  package var key: [Int]
  package var value: [Int]

  package init(
    batch: Int, heads: Int, rows: Int, width: Int, valueWidth: Int, firstRow: Int, key: [Int], value: [Int]
  ) {
    self.batch = batch
    self.heads = heads
    self.rows = rows
    self.width = width
    self.valueWidth = valueWidth
    self.firstRow = firstRow
    self.key = key
    self.value = value
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 5...5)
    let scalar = inputs[0].scalar
    guard scalar.isFloatingPoint, inputs[..<4].allSatisfy({ $0.scalar == scalar }) else {
      throw OperatorError("expected caches and rows of one floating-point type, got \(inputs)")
    }
    guard [batch, heads, rows, width, valueWidth].allSatisfy({ (1...Self.longest).contains($0) }) else {
      throw OperatorError("expected sizes of at least 1, got \([batch, heads, rows, width, valueWidth])")
    }
    for (cache, width) in zip(inputs, [width, valueWidth]) {
      let shape = cache.shape
      guard shape.rank == 4, shape[0] == batch, shape[1] == heads, shape[2] >= rows, shape[3] == width else {
        throw OperatorError("a cache of \(cache) does not take \([batch, heads, rows, width])")
      }
    }
    try Attention.check(key, [batch, heads, rows, width], of: inputs[2], "keys")
    try Attention.check(value, [batch, heads, rows, valueWidth], of: inputs[3], "values")
    try Attention.check(inputs[4], batch: batch, offset: firstRow)
    return [inputs[0], inputs[1]]
  }

  private static let longest = 1 << 30

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(batch * heads * rows) * Double(width + valueWidth)
  }

  package static let summary = OperatorSummary(
    formula: "y_k = k, then y_k[b, h, lengths[b] + first_row + i, …] = new_k[b, h, i, …]; the same for v",
    notes: """
      The new rows are views: an offset in the tensor, then the strides from batch to batch, head to head, row to row \
      and element to element. Rows outside the caches are not written.
      """,
    inputs: [
      ("k", "floating-point, `[batch, heads, …, width]`"),
      ("v", "k's element type, `[batch, heads, …, value_width]`"),
      ("new_k", "k's element type, holds `[batch, heads, rows, width]`"),
      ("new_v", "k's element type, holds `[batch, heads, rows, value_width]`"),
      ("lengths", "int32 or int64, an element for each batch"),
    ],
    outputs: [("y_k", "k's type"), ("y_v", "v's type")])

  package static let schema = AttributeSchema(
    UpdateCache(batch: 1, heads: 1, rows: 1, width: 1, valueWidth: 1, firstRow: 0, key: [], value: []),
    .required("batch", \.batch, "number of batches"), .required("heads", \.heads, "number of heads"),
    .required("rows", \.rows, "number of new rows of each head"),
    .required("width", \.width, "length of a key"), .required("value_width", \.valueWidth, "length of a value"),
    .required("first_row", \.firstRow, "added to a length: the first row that is written"),
    .required("key", \.key, "offset and four strides of new_k"),
    .required("value", \.value, "offset and four strides of new_v"))
}

extension UpdateCache: UpdatingOperator {
  package var updatedCount: Int { 2 }
  /// Caches are states of a decoder.
  package var replacedCount: Int? { batch * heads * rows * (width + valueWidth) }
}
