import KelvinGraph

extension PassExample {
  /// One for each pass of the pipeline, by the names of `Pipeline.names`.
  static let all: [String: @Sendable () throws -> PassExample] = [
    "compute-outputs": computeOutputs,
    "fold-constants": foldConstants,
    "fuse-integers": fuseIntegers,
    "fuse-dynamic-quantization": fuseDynamicQuantization,
    "fold-dequantization": foldDequantization,
    "fold-constants-2": foldConstants,
    "remove-identities": removeIdentities,
    "fold-batch-normalization": foldBatchNormalization,
    "convert-matmul": convertMatMul,
    "recognize-layer-normalization": recognizeLayerNormalization,
    "fold-transpositions": foldTranspositions,
    "merge-clips": mergeClips,
    "recognize-activations": recognizeActivations,
    "recognize-gelu": recognizeGELU,
    "fold-bias": foldBias,
    "fuse-epilogue": fuseEpilogue,
    "recognize-attention": recognizeAttention,
    "recognize-cache-updates": recognizeCacheUpdates,
    "join-projections": joinProjections,
    "fuse-normalization": fuseNormalization,
    "remove-unused-nodes": removeUnusedNodes,
    "remove-unused-captures": removeUnusedCaptures,
  ]

  /// An input and a constant that are returned as they are.
  @Sendable private static func computeOutputs() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3])
    let constant = example.weight("constant", [4])
    let y = try example.add("relu", Unary(.relu), x)
    return try example.returning(x, constant, y)
  }

  /// Constants too large to be computed while the graph is built: one plain, one dequantized.
  @Sendable private static func foldConstants() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [40, 40])
    let folded = try example.add("folded", Unary(.relu), example.weight("plain", [40, 40]))
    let integers = example.integers("integers", .int32, [40, 40], -1000...1000)
    let dequantized = try example.dequantize("dequantized", integers, scale: 0.01, zero: 3)
    let sum = try example.add("sum", Binary(.add), x, folded)
    return try example.returning(example.add("product", Binary(.multiply), sum, dequantized))
  }

  /// A quantized convolution with bias and activation, a sum and a pooling of quantized tensors, and a function that no
  /// integers can take.
  @Sendable private static func fuseIntegers() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [1, 2, 5, 5], .uint8)
    let real = try example.dequantize("x.real", x, scale: 0.02, zero: 128)
    let filters = try example.dequantize(
      "filters.real", example.integers("filters", .int8, [2, 2, 3, 3], -100...100), scale: 0.01, zero: 0)
    let bias = try example.dequantize(
      "bias.real", example.integers("bias", .int32, [2], -900...900), scale: Double(Float(0.02) * Float(0.01)), zero: 0)
    let convolution = Convolution(window: Window(kernel: [3, 3], before: [1, 1]), epilogue: .bias)
    let product = try example.add("convolution", convolution, real, filters, bias)
    let clipped = try example.add("relu", Unary(.relu), product)
    let first = try example.quantize("first", clipped, scale: 0.02, zero: 0)
    let again = try example.dequantize("first.real", first, scale: 0.02, zero: 0)
    let sum = try example.quantize("sum", example.add("add", Binary(.add), again, real), scale: 0.03, zero: 100)
    let pooled = try example.add("pool", Pool(.maximum, window: Window(kernel: [2, 2])), again)
    let bytes = try example.quantize("pooled", pooled, scale: 0.02, zero: 0)
    let curved = try example.add("sigmoid", Unary(.sigmoid), real)
    return try example.returning(
      sum, bytes, example.quantize("curved", curved, scale: 0.004, zero: 0),
      tolerance: Tolerance(relative: 0, absolute: 1.0 / 64))
  }

  /// Two products of the same quantized rows, and a product whose sums are an output too.
  @Sendable private static func fuseDynamicQuantization() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [4, 6])
    let rows = try example.quantizeDynamically("x", x)
    let one = try example.dynamicProduct(
      "one", rows, example.integers("one.weights", .int8, [6, 5], -128...127), example.number("one.scale", 0.01),
      example.number("one.zero", 3, .int8))
    let several = try example.dynamicProduct(
      "several", rows, example.integers("several.weights", .uint8, [6, 3], 0...255),
      example.weight("several.scales", [3], 0.001...0.02), example.integers("several.zeros", .uint8, [3], 0...255))
    let again = try example.quantizeDynamically("again", example.add("relu", Unary(.relu), several.result))
    let kept = try example.dynamicProduct(
      "kept", again, example.integers("kept.weights", .int8, [3, 2], -128...127), example.number("kept.scale", 0.01),
      example.number("kept.zero", 0, .int8))
    return try example.returning(one.result, kept.result, kept.sums)
  }

  /// Weights of 8 bits in blocks of their own scale.
  @Sendable private static func foldDequantization() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 6])
    let scales = example.weight("scales", [4], 0.01...0.02)
    let zeros = example.integers("zeros", .uint8, [4], 100...140)
    let weights = try example.add(
      "weights.real", Dequantize(axis: 0), example.integers("weights", .uint8, [4, 6], 0...255), scales, zeros)
    return try example.returning(example.add("linear", Linear(), x, weights))
  }

  /// Every kind of node that returns its input, and an output that keeps its own.
  @Sendable private static func removeIdentities() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3])
    var y = try example.add("relu", Unary(.relu), x)
    y = try example.add("cast", Cast(.float32), y)
    y = try example.add("reshape", Reshape([2, 3]), y)
    y = try example.add("transpose", Transpose([0, 1]), y)
    let apart = try example.add("apart", Reshape([2, 1, 3]), y)
    let moved = try example.add("moved", Transpose([1, 0, 2]), apart)
    y = try example.add("slice", Slice(starts: [0, 0], counts: [2, 3], steps: [1, 1]), y)
    y = try example.add("pad", Pad(before: [0, 0], after: [0, 0], mode: .constant(1)), y)
    y = try example.add("affine", Unary(UnaryFunction(.affine, a: 1, b: 0)), y)
    let reversed = try example.add("reversed", Slice(starts: [1, 0], counts: [2, 3], steps: [-1, 1]), y)
    let kept = try example.add("kept", Reshape([2, 3]), reversed)
    return try example.returning(example.add("exp", Unary(UnaryFunction(.exp)), y), kept, moved)
  }

  @Sendable private static func foldBatchNormalization() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [1, 2, 4, 4])
    var y = x
    for (name, epilogue) in [("plain", Epilogue()), ("biased", .bias)] {
      let op = Convolution(window: Window(kernel: [1, 1]), epilogue: epilogue)
      let weights = example.weight("\(name).weights", [2, 2, 1, 1])
      y =
        epilogue.hasBias
        ? try example.add(name, op, y, weights, example.weight("\(name).bias", [2]))
        : try example.add(name, op, y, weights)
      y = try example.add(
        "\(name).normal", BatchNormalization(epsilon: 1e-3), y, example.weight("\(name).scale", [2]),
        example.weight("\(name).shift", [2]), example.weight("\(name).mean", [2]),
        example.weight("\(name).variance", [2], 0.5...2))
    }
    return try example.returning(y)
  }

  /// Products by constant matrices, stored either way, and one of two variables.
  @Sendable private static func convertMatMul() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3])
    let first = try example.add("rows", MatMul(), x, example.weight("w", [3, 4]))
    let second = try example.add("columns", MatMul(transposesY: true), first, example.weight("v", [5, 4]))
    return try example.returning(example.add("variables", MatMul(transposesX: true), second, x))
  }

  @Sendable private static func recognizeLayerNormalization() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3, 5])
    let mean = Reduce(.mean, axes: [2], keepsDimensions: true)
    let centered = try example.add("centered", Binary(.subtract), x, example.add("mean", mean, x))
    let squares = try example.add("squares", Binary(.multiply), centered, centered)
    let variance = try example.add("variance", mean, squares)
    let shifted = try example.add("shifted", Binary(.add), variance, example.number("epsilon", 1e-5))
    let root = try example.add("root", Unary(UnaryFunction(.sqrt)), shifted)
    let quotient = try example.add("quotient", Binary(.divide), centered, root)
    let scaled = try example.add("scaled", Binary(.multiply), quotient, example.weight("scale", [5]))
    return try example.returning(example.add("moved", Binary(.add), scaled, example.weight("shift", [5])))
  }

  /// A transposition that goes, one that then moves rows only, and one that stays.
  @Sendable private static func foldTranspositions() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3, 4, 5])
    let whole = try example.add("whole", Transpose([0, 1, 3, 2]), x)
    let first = try example.add("first", MatMul(), whole, x)
    let keys = try example.add("keys", Transpose([0, 2, 3, 1]), example.input("keys.source", [2, 6, 3, 5]))
    let second = try example.add("second", MatMul(), first, keys)
    let other = try example.add("other", Transpose([1, 0, 2, 3]), x)
    return try example.returning(second, example.add("third", MatMul(transposesY: true), other, other))
  }

  /// `-max(-max(x, 0), -6)`, and a clip whose inner result is read elsewhere.
  @Sendable private static func mergeClips() throws -> PassExample {
    var example = ExampleBuilder()
    var y = try example.input("x", [2, 3])
    y = try example.add("lower", Unary(.relu), y)
    y = try example.add("negative", Unary(UnaryFunction(.negate)), y)
    y = try example.add("upper", Unary(.clip(-1.5, .infinity)), y)
    y = try example.add("positive", Unary(UnaryFunction(.affine, a: -1, b: 0)), y)
    let shared = try example.add("shared", Unary(.clip(-1, 1)), example.input("z", [2, 3]))
    return try example.returning(y, shared, example.add("after", Unary(.relu), shared))
  }

  @Sendable private static func recognizeActivations() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3])
    let first = try example.add("silu", Binary(.multiply), x, example.add("sigmoid", Unary(.sigmoid), x))
    let gate = try example.add("gate", Unary(UnaryFunction(.hardSigmoid, a: 1 / 6, b: 0.5)), first)
    let second = try example.add("swish", Binary(.multiply), gate, first)
    let other = try example.add("other", Unary(.sigmoid), second)
    return try example.returning(example.add("gated", Binary(.multiply), other, x))
  }

  @Sendable private static func recognizeGELU() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3])
    let scaled = try example.add("scaled", Binary(.divide), x, example.number("root", 2.0.squareRoot()))
    let erf = try example.add("erf", Unary(UnaryFunction(.erf)), scaled)
    let sum = try example.add("sum", Binary(.add), erf, example.number("one", 1))
    let product = try example.add("product", Binary(.multiply), x, sum)
    return try example.returning(example.add("half", Binary(.multiply), product, example.number("0.5", 0.5)))
  }

  /// Additions of one constant for each channel, and of one for each column, which is no bias of a convolution.
  @Sendable private static func foldBias() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [1, 2, 3, 4])
    let first = try example.add(
      "convolution", Convolution(window: Window(kernel: [1, 1])), x, example.weight("w", [3, 2, 1, 1]))
    let biased = try example.add("biased", Binary(.add), first, example.weight("channels", [1, 3, 1, 1]))
    let second = try example.add("linear", Linear(), biased, example.weight("v", [5, 4]))
    let third = try example.add("moved", Binary(.add), second, example.weight("columns", [5]))
    let last = try example.add(
      "last", Convolution(window: Window(kernel: [1, 1])), third, example.weight("u", [2, 3, 1, 1]))
    return try example.returning(example.add("kept", Binary(.add), last, example.weight("across", [5])))
  }

  /// A residual block with its activation, a linear layer with one, and a product that others read too.
  @Sendable private static func fuseEpilogue() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [1, 2, 3, 4])
    let plain = Convolution(window: Window(kernel: [1, 1]), epilogue: .bias)
    let product = try example.add(
      "convolution", plain, x, example.weight("w", [2, 2, 1, 1]), example.weight("b", [2]))
    let sum = try example.add("residual", Binary(.add), x, product)
    let block = try example.add("relu", Unary(.relu), sum)
    let linear = try example.add("linear", Linear(), block, example.weight("v", [5, 4]))
    let gated = try example.add("sigmoid", Unary(.sigmoid), linear)
    let shared = try example.add("shared", Linear(), gated, example.weight("u", [3, 5]))
    return try example.returning(shared, example.add("tanh", Unary(UnaryFunction(.tanh)), shared))
  }

  /// Two heads in one tensor beside their keys and values, and scores that something else reads, too.
  @Sendable private static func recognizeAttention() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [5, 3, 2, 4])
    let mask = try example.input("mask", [5])
    var operands: [ValueID] = []
    for (index, name) in ["query", "key", "value"].enumerated() {
      let part = try example.add(
        "\(name).part", Gather(axis: 1), x, example.number("\(name).index", Double(index), .int64))
      operands.append(try example.add(name, Transpose([1, 0, 2]), part))
    }
    let scaled = try example.add("scaled", Binary(.multiply), operands[0], example.number("root", 0.5))
    let keys = try example.add("keys", Transpose([0, 2, 1]), operands[1])
    let scores = try example.add("scores", MatMul(), scaled, keys)
    let masked = try example.add("masked", Binary(.add), scores, mask)
    let shares = try example.add("shares", Softmax(axis: 2), masked)
    let sums = try example.add("sums", MatMul(), shares, operands[2])
    let turned = try example.add("turned", Transpose([1, 0, 2]), sums)
    let joined = try example.add("joined", Reshape([5, 8]), turned)
    let exposed = try example.add("exposed", MatMul(transposesY: true), operands[0], operands[1])
    let exposedShares = try example.add("exposed.shares", Softmax(axis: 2), exposed)
    let exposedSums = try example.add("exposed.sums", MatMul(), exposedShares, operands[2])
    return try example.returning(example.add("relu", Unary(.relu), joined), exposed, exposedSums)
  }

  /// Queries, keys and values of one tensor, the keys without a bias; keys and values of another, whose queries are
  /// read by more than attention.
  @Sendable private static func joinProjections() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [5, 6])
    let y = try example.input("y", [3, 6])
    func projection(_ name: String, _ source: ValueID, _ width: Int, hasBias: Bool = true) throws -> ValueID {
      let weights = example.weight("\(name).weights", [width, 6])
      return hasBias
        ? try example.add(name, Linear(epilogue: .bias), source, weights, example.weight("\(name).bias", [width]))
        : try example.add(name, Linear(), source, weights)
    }
    func attention(keys: Int) -> Attention {
      Attention(
        batch: 1, heads: 2, queries: 5, keys: keys, width: 4, valueWidth: 3, scale: 0.5, query: [0, 0, 4, 8, 1],
        key: [0, 0, 4, 8, 1], value: [0, 0, 3, 6, 1], shape: [5, 6], result: [0, 3, 6])
    }
    let value = try projection("value", x, 6)
    let query = try projection("query", x, 8)
    let key = try projection("key", x, 8, hasBias: false)
    let own = try example.add("self", attention(keys: 5), query, key, value)
    let crossed = try projection("crossed.query", own, 8)
    let cross = try example.add(
      "cross", attention(keys: 3), crossed, projection("crossed.key", y, 8), projection("crossed.value", y, 6))
    return try example.returning(cross, example.add("relu", Unary(.relu), crossed))
  }

  /// Keys and values of two batches, written at a position of each, and a third cache that no attention reads.
  @Sendable private static func recognizeCacheUpdates() throws -> PassExample {
    var example = ExampleBuilder()
    let query = try example.input("query", [2, 3, 8])
    let rows = try example.input("rows", [2, 3, 4])
    let lengths = try example.input("lengths", [2], .int32, 1...4)
    let wide = try example.add("wide", Cast(.int64), try example.add("held", Reshape([2, 1]), lengths))
    let first = try example.add("first", Binary(.add), wide, example.number("start", -1, .int64))
    let steps = example.range("steps", 3)
    let places = try example.add(
      "column", Reshape([2, 1, 3, 1]), try example.add("places", Binary(.add), steps, first))
    var caches: [ValueID] = []
    for name in ["keys", "values", "others"] {
      let cache = try example.input(name, [2, 1, 9, 4])
      let new = try example.add("\(name).new", Reshape([2, 1, 3, 4]), rows)
      let indices = try example.add("\(name).places", Expand([2, 1, 3, 4]), places)
      caches.append(try example.add("\(name).written", ScatterElements(axis: 2), cache, indices, new))
    }
    let attention = Attention(
      batch: 2, heads: 2, queries: 3, keys: 9, width: 4, valueWidth: 4, scale: 0.5, sharing: 2,
      query: [0, 24, 4, 8, 1], key: [0, 36, 0, 4, 1], value: [0, 36, 0, 4, 1], shape: [2, 3, 8], result: [24, 4, 8])
    let result = try example.add("attention", attention, query, caches[0], caches[1])
    return try example.returning(result, caches[0], caches[2])
  }

  /// A normalization of one row before a linear layer, and one whose result is also read elsewhere.
  @Sendable private static func fuseNormalization() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [1, 6])
    let norm = LayerNormalization(axis: 1, epsilon: 1e-5)
    let normed = try example.add("normed", norm, x, example.weight("scale", [6]), example.weight("shift", [6]))
    let linear = try example.add(
      "linear", Linear(epilogue: .bias), normed, example.weight("weights", [4, 6]), example.weight("bias", [4]))
    let shared = try example.add("shared", norm, x)
    let other = try example.add("other", Linear(), shared, example.weight("others", [3, 6]))
    return try example.returning(linear, other, shared)
  }

  /// Two nodes that only each other read.
  @Sendable private static func removeUnusedNodes() throws -> PassExample {
    var example = ExampleBuilder()
    let x = try example.input("x", [2, 3])
    let unused = try example.add("unused", Unary(.sigmoid), x)
    _ = try example.add("unread", Binary(.add), unused, x)
    return try example.returning(example.add("used", Unary(.relu), x))
  }

  /// A branch of which one region reads what it captured, and the other not all of it.
  @Sendable private static func removeUnusedCaptures() throws -> PassExample {
    var example = ExampleBuilder()
    let condition = try example.input("condition", [1], .uint8)
    let x = try example.input("x", [2, 3])
    let unread = try example.input("unread", [2, 3])
    let then = try example.region(.then, capturing: unread, x) { example, captured in
      try example.add("tanh", Unary(UnaryFunction(.tanh)), captured[1])
    }
    let otherwise = try example.region(.otherwise, capturing: x) { example, captured in
      try example.add("sigmoid", Unary(.sigmoid), captured[0])
    }
    let chosen = try example.branch("chosen", condition, TensorType(.float32, [2, 3]), then, otherwise)
    return try example.returning(chosen, example.add("doubled", Binary(.add), unread, unread))
  }
}
