/// Attention of all heads of a batch, with strided operands. A joint product of all three, adjacent heads, and the
/// transpositions that exporters write need no tensors of their own.
package struct Attention: Operator {
  package static let name = "attention"
  package var batch: Int
  package var heads: Int
  package var queries: Int
  package var keys: Int
  package var width: Int
  package var valueWidth: Int
  package var scale: Float
  package var hasMask: Bool
  /// The number of neighbouring heads of queries that read one head of keys and values.
  package var sharing: Int
  /// Whether a length for each batch decides which keys its queries see.
  package var hasLengths: Bool
  /// The last key that query i of a batch sees is number `length + lastKey + i`.
  package var lastKey: Int
  /// The number of keys up to its last one that a query sees; 0 for all of them.
  package var window: Int
  /// The offset of an operand in its tensor, and its strides from batch to batch, head to head, row to row and element
  /// to element.
  package var query: [Int]
  package var key: [Int]
  package var value: [Int]
  package var shape: Shape
  /// The strides in the output from batch to batch, head to head and row to row; a row's elements are contiguous.
  package var result: [Int]

  package init(
    batch: Int, heads: Int, queries: Int, keys: Int, width: Int, valueWidth: Int, scale: Float, hasMask: Bool = false,
    sharing: Int = 1, hasLengths: Bool = false, lastKey: Int = 0, window: Int = 0, query: [Int], key: [Int],
    value: [Int], shape: Shape, result: [Int]
  ) {
    self.batch = batch
    self.heads = heads
    self.queries = queries
    self.keys = keys
    self.width = width
    self.valueWidth = valueWidth
    self.scale = scale
    self.hasMask = hasMask
    self.sharing = sharing
    self.hasLengths = hasLengths
    self.lastKey = lastKey
    self.window = window
    self.query = query
    self.key = key
    self.value = value
    self.shape = shape
    self.result = result
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    let expected = 3 + (hasMask ? 1 : 0) + (hasLengths ? 1 : 0)
    try OperatorError.require(inputs, expected...expected)
    let scalar = inputs[2].scalar
    guard scalar.isFloatingPoint, inputs.prefix(hasMask ? 4 : 3).allSatisfy({ $0.scalar == scalar }) else {
      throw OperatorError("expected operands of one floating-point type, got \(inputs)")
    }
    let sizes = [batch, heads, queries, keys, width, valueWidth]
    guard sizes.allSatisfy({ (1...Self.longest).contains($0) }) else {
      throw OperatorError("sizes must be from 1 to \(Self.longest), got \(sizes)")
    }
    guard sharing > 0, heads % sharing == 0 else {
      throw OperatorError("\(sharing) of \(heads) heads cannot share keys")
    }
    if hasLengths {
      try Self.check(inputs[expected - 1], batch: batch, offset: lastKey)
      guard (0...Self.longest).contains(window) else { throw OperatorError("a window of \(window) keys") }
    } else if lastKey != 0 || window != 0 {
      throw OperatorError("a last key or a window without lengths")
    }
    for sizes in [
      scores, [batch, heads, queries, width], [batch, heads, keys, width], [batch, heads, keys, valueWidth],
    ]
      as [Shape] where !sizes.isAddressable
    {
      throw OperatorError("\(sizes) is too large")
    }
    try Self.check(query, [batch, heads, queries, width], of: inputs[0], "query")
    try Self.check(key, [batch, keyHeads, keys, width], of: inputs[1], "key")
    try Self.check(value, [batch, keyHeads, keys, valueWidth], of: inputs[2], "value")
    if hasMask, inputs[3].shape.broadcast(with: scores) != scores {
      throw OperatorError("mask: \(inputs[3]) does not broadcast to \(scores)")
    }
    let elements: Shape = [batch, heads, queries, valueWidth]
    guard shape.isAddressable, elements.isAddressable, shape.count == elements.count, result.count == 3 else {
      throw OperatorError("a result of \(shape) and strides \(result) does not hold \(sizes)")
    }
    var place = valueWidth
    for (stride, size) in zip(result, [batch, heads, queries]).sorted(by: { $0 < $1 }) where size > 1 {
      guard stride == place else { throw OperatorError("strides \(result) do not fill \(shape)") }
      place *= size
    }
    return [TensorType(scalar, shape)]
  }

  package var scores: Shape { [batch, heads, queries, keys] }
  /// The number of heads of keys and values.
  package var keyHeads: Int { heads / sharing }

  /// Returns the keys that a query sees in a batch of this length.
  package func keys(seenBy query: Int, length: Int) -> Range<Int> {
    let end = min(max(length, -Self.farthest), Self.farthest) + lastKey + query + 1
    let upper = min(max(end, 0), keys)
    return min(window > 0 ? max(end - window, 0) : 0, upper)..<upper
  }

  /// Checks lengths, and the offset that is added to them.
  static func check(_ lengths: TensorType, batch: Int, offset: Int) throws(OperatorError) {
    guard lengths.scalar == .int32 || lengths.scalar == .int64, lengths.count == batch else {
      throw OperatorError("lengths: expected \(batch) elements of int32 or int64, got \(lengths)")
    }
    guard (-longest...longest).contains(offset) else { throw OperatorError("\(offset) is added to lengths") }
  }

  /// Checks the view of an operand, an offset and four strides.
  static func check(
    _ view: [Int], _ sizes: [Int], of type: TensorType, _ name: String
  ) throws(OperatorError) {
    guard view.count == 5, view.allSatisfy({ (0...Self.longest).contains($0) }) else {
      throw OperatorError("\(name): expected an offset and four strides, got \(view)")
    }
    let last = zip(view[1...], sizes).reduce(view[0]) { $0 + $1.0 * ($1.1 - 1) }
    guard last < type.count else { throw OperatorError("\(name): offset \(last) is outside of \(type)") }
  }

  /// The greatest size or stride, whose products fit an integer.
  private static let longest = 1 << 30
  /// A length beyond all keys. Kernels limit lengths to it, so that sums stay within 32 bits.
  private static let farthest = 1 << 30

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(scores.count) * Double(2 * width + 2 * valueWidth + 14)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .accumulation(precision, inputs[0].scalar, length: width + keys)
  }

  package static let summary = OperatorSummary(
    formula: "y = softmax(scale · q · kᵀ + mask) · v, for each head of each batch",
    notes: """
      The operands are views: an offset in the tensor, then the strides from batch to batch, head to head, row to row \
      and element to element. Sizes and strides are at most 2^30. With `sharing` s, head h reads the keys and values of \
      head h / s. With lengths, query i of batch b sees the keys up to number `lengths[b] + last_key + i`, or only the \
      last `window` of these; a query that sees none has a result of zeros.
      """,
    inputs: [
      ("q", "floating-point, holds `[batch, heads, queries, width]`"),
      ("k", "q's element type, holds `[batch, heads / sharing, keys, width]`"),
      ("v", "q's element type, holds `[batch, heads / sharing, keys, value_width]`"),
      ("mask", "only if `mask`: q's element type, broadcasts to `[batch, heads, queries, keys]`"),
      ("lengths", "only if `lengths`: int32 or int64, an element for each batch"),
    ],
    outputs: [("y", "v's element type in `shape`; each element is one of the result's")])

  package static let schema = AttributeSchema(
    Attention(
      batch: 1, heads: 1, queries: 1, keys: 1, width: 1, valueWidth: 1, scale: 1, query: [], key: [], value: [],
      shape: [], result: []), .required("batch", \.batch, "number of batches"),
    .required("heads", \.heads, "number of heads"), .required("queries", \.queries, "number of queries"),
    .required("keys", \.keys, "number of keys and values"),
    .required("width", \.width, "length of a query and of a key"),
    .required("value_width", \.valueWidth, "length of a value"),
    .required("scale", \.scale, "factor of the products"), .optional("mask", \.hasMask, "whether there is a mask"),
    .optional("sharing", \.sharing, "number of neighbouring heads that read one head of k and v"),
    .optional("lengths", \.hasLengths, "whether lengths decide which keys are seen"),
    .optional("last_key", \.lastKey, "added to a length: the last key that the first query sees"),
    .optional("window", \.window, "number of keys that a query sees at most; 0 for no limit"),
    .required("query", \.query, "offset and four strides of q"),
    .required("key", \.key, "offset and four strides of k"),
    .required("value", \.value, "offset and four strides of v"), .required("shape", \.shape, "shape of the output"),
    .required(
      "result", \.result,
      "strides in the output from batch to batch, head to head and row to row; the elements of a row are contiguous"))
}
