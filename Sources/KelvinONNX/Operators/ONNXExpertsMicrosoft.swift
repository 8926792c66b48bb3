import KelvinGraph
import KelvinImport

/// Mixtures of experts of the domain `com.microsoft`: ONNX Runtime's `ContribOperators.md`, and its kernels for the
/// weights of routes. An expert computes only the tokens that are routed to it: a loop processes as many tiles as the
/// expert needs, and adds the results to the tokens' sums.
extension ONNXMapper {
  static let microsoftExperts: [ONNXMapper] = [mixture, quantizedMixture]

  private static let mixture = ONNXMapper("com.microsoft.MoE") { c in
    try c.mixture(normalizes: c.flag("normalize_routing_weights"), scores: nil) { layer in
      guard let weights = c.optional([2, 4, 6][layer]) else { return nil }
      let sizes = c.emitter.shape(weights)
      guard sizes.rank == 3 else { throw c.emitter.invalid("weights of experts: \(c.emitter.type(weights))") }
      let rows = try c.emitter.reshape(weights, [sizes[0] * sizes[1], sizes[2]], step: "rows_\(layer)")
      return ExpertLayer(experts: sizes[0], rows: sizes[1], depth: sizes[2], bias: c.optional([3, 5, 7][layer])) {
        try c.emitter.blocks([$0], of: rows, count: sizes[0], step: "expert_\($0)/weights_\(layer)")
      }
    }
  }

  /// A mixture of experts with integer weights, which stay in the file's encoding.
  private static let quantizedMixture = ONNXMapper("com.microsoft.QMoE") { c in
    guard c.text("quant_type", default: "int") == "int" else {
      throw c.unsupported("weights of the kind '\(c.text("quant_type", default: ""))'")
    }
    guard c.integer("weights_prepacked", default: -1) < 1 else {
      throw c.unsupported("weights in the order of a device (weights_prepacked)")
    }
    for index in 15..<22 where c.optional(index) != nil {
      throw c.unsupported("a scale of a whole layer (input \(index))")
    }
    // Without separate scores the kernels normalize over the chosen experts, whatever the attribute says.
    let normalizes = c.optional(14) == nil || c.flag("normalize_routing_weights")
    return try c.mixture(normalizes: normalizes, scores: c.optional(14)) { try c.quantizedExperts($0) }
  }
}

/// The same layer of all experts.
private struct ExpertLayer {
  var experts: Int
  var rows: Int
  var depth: Int
  /// `[experts, rows]`.
  var bias: ValueID?
  /// Returns the weights `[rows, depth]` of one expert.
  var weights: (Int) throws -> ValueID
}

extension ONNXOperation {
  /// Emits a mixture of experts.
  ///
  /// - Parameters:
  ///   - normalizes: Whether the weights of a token's experts add up to 1.
  ///   - scores: Scores of each expert that replace the routing scores as weights.
  ///   - layer: Returns the first layer, the second, or the gate layer parallel to the first, which is optional.
  fileprivate func mixture(
    normalizes: Bool, scores: ValueID?, _ layer: (Int) throws -> ExpertLayer?
  ) throws -> [ValueID] {
    let x = try input(0)
    guard let width = emitter.shape(x).dimensions.last, emitter.shape(x).rank >= 2, width > 0,
      let first = try layer(0), let second = try layer(1)
    else { throw emitter.invalid("\(emitter.type(try input(0))) with experts that lack layers") }
    let tokens = emitter.shape(x).count / width
    let gate = try layer(2)
    let isFused = gate == nil && text("activation_type", default: "relu") == "swiglu"
    let inner = isFused ? first.rows / 2 : first.rows
    let layers = [first, second] + (gate.map { [$0] } ?? [])
    guard first.depth == width, second.depth == inner, second.rows == width, !isFused || first.rows % 2 == 0,
      gate.map({ $0.depth == width && $0.rows == inner }) ?? true, layers.allSatisfy({ $0.experts == first.experts }),
      (1...1024).contains(first.experts)
    else { throw emitter.invalid("layers of \(layers.map { [$0.experts, $0.rows, $0.depth] }) for rows of \(width)") }
    let rows = try emitter.reshape(x, [tokens, width], step: "tokens")
    let routes = try routes(tokens, first.experts, normalizes: normalizes, scores: scores)
    let tiles = try ExpertTiles(
      emitter, routes, tokens: tokens, experts: first.experts, chosen: integer("k", default: 1))
    let type = TensorType(emitter.scalar(x), [tokens, width])
    var sum = emitter.zeros(type, step: "no_sum")
    for expert in 0..<first.experts {
      let step = "expert_\(expert)"
      var operands = [
        try linearOperands(first, expert, "first"), try linearOperands(second, expert, "second"),
      ]
      if let gate { operands.append(try linearOperands(gate, expert, "gate")) }
      let depth = emitter.depth
      let count = try tiles.count(of: expert)
      let none = emitter.constant(integers: [0], .int64, shape: [])
      let start = try tiles.isNeeded(none, of: count, step: "\(step)/any")
      let region = try emitter.region(.body) {
        let trip = try emitter.input("\(node.name)/\(step)/trip", TensorType(.int64, []))
        let before = try emitter.input("\(node.name)/\(step)/before", type)
        func linear(_ x: ValueID, _ layer: Int, _ name: String) throws -> ValueID {
          let own = operands[layer].map { emitter.value($0, of: depth) }
          return try emitter.add(
            Linear(epilogue: Epilogue(hasBias: own.count > 1)), [x] + own, step: "\(step)/\(name)")
        }
        let tile = try tiles.tile(trip, of: expert, depth: depth)
        let own = try emitter.add(Gather(axis: 0), emitter.value(rows, of: depth), tile.tokens, step: "\(step)/own")
        let inner = try linear(own, 0, "first")
        let other = operands.count > 2 ? try linear(own, 2, "gate") : nil
        let result = try linear(activated(inner, other, step: step), 1, "second")
        let next = try emitter.binary(
          .add, trip, emitter.constant(integers: [1], .int64, shape: []), step: "\(step)/next")
        return [
          try tiles.isNeeded(next, of: emitter.value(count, of: depth), step: "\(step)/more"),
          try tile.adding(result, to: before, emitter, step: step),
        ]
      }
      let most = emitter.constant(integers: [tiles.most], .int64, shape: [])
      sum = try emitter.addControl(
        Loop(carriedCount: 1, isConditional: true), [most, start, sum], [region], results: 2, step: step)[0]
    }
    return [try emitter.reshape(sum, emitter.shape(x))]
  }

  /// Returns the weights of one expert's layer, and its bias if it has one.
  private func linearOperands(_ layer: ExpertLayer, _ expert: Int, _ name: String) throws -> [ValueID] {
    var operands = [try layer.weights(expert)]
    if let bias = layer.bias {
      guard emitter.shape(bias).count == layer.experts * layer.rows else {
        throw emitter.invalid("a bias of \(emitter.type(bias)) for \(layer.experts) experts of \(layer.rows)")
      }
      let flat = try emitter.reshape(bias, [layer.experts * layer.rows], step: "\(name)_biases")
      operands.append(
        try emitter.blocks([expert], of: flat, count: layer.experts, step: "expert_\(expert)/\(name)_bias"))
    }
    return operands
  }

  /// Returns the weight of each expert for each token, zero for experts that the token is not routed to.
  private func routes(_ tokens: Int, _ experts: Int, normalizes: Bool, scores: ValueID?) throws -> ValueID {
    guard !flag("use_sparse_mixer") else { throw unsupported("routes by a sparse mixer (use_sparse_mixer)") }
    let (router, chosen) = (try input(1), integer("k", default: 1))
    for table in [router, scores ?? router] where emitter.shape(table) != [tokens, experts] {
      throw emitter.invalid("routes \(emitter.type(table)) of \(tokens) tokens to \(experts) experts")
    }
    guard (1...experts).contains(chosen) else { throw emitter.invalid("\(chosen) of \(experts) experts") }
    let shares = try emitter.add(Softmax(axis: 1), router, step: "router_shares")
    let best = try emitter.addAll(TopK(axis: 1, count: chosen, takesLargest: true), [shares], step: "best")
    var weights = try scores.map { try emitter.add(GatherElements(axis: 1), $0, best[1], step: "scores") } ?? best[0]
    if normalizes {
      let total = try emitter.add(Reduce(.sum, axes: [1], keepsDimensions: true), weights, step: "total")
      weights = try emitter.binary(.divide, weights, total, step: "normal_weights")
    }
    let none = emitter.zeros(TensorType(emitter.scalar(weights), [tokens, experts]), step: "no_routes")
    return try emitter.add(ScatterElements(axis: 1, reduction: .replace), none, best[1], weights, step: "routes")
  }

  /// Returns the activation of the first layer, multiplied by the gate layer if there is one. SwiGLU takes both from
  /// one layer, as halves or as interleaved pairs.
  private func activated(_ x: ValueID, _ gate: ValueID?, step: String) throws -> ValueID {
    let name = text("activation_type", default: "relu")
    let result: ValueID
    switch name {
    case "swiglu": return try swiGLU(x, gate, step: step)
    case "relu": result = try emitter.unary(.relu, x, step: "\(step)/active")
    case "gelu": result = try emitter.unary(UnaryFunction(.geluTanh), x, step: "\(step)/active")
    case "silu": result = try emitter.unary(.silu, x, step: "\(step)/active")
    case "identity": result = x
    default: throw unsupported("the activation '\(name)'")
    }
    return try gate.map { try emitter.binary(.multiply, result, $0, step: "\(step)/gated") } ?? result
  }

  /// `g · sigmoid(α g) · (l + β)`, with both operands clamped.
  private func swiGLU(_ x: ValueID, _ gate: ValueID?, step: String) throws -> ValueID {
    let sizes = emitter.shape(x)
    var (g, l) = (x, gate ?? x)
    let fusion = integer("swiglu_fusion", default: 0)
    if gate == nil {
      guard fusion == 1 || fusion == 2 else {
        throw emitter.invalid("SwiGLU of one layer with swiglu_fusion \(fusion)")
      }
      let (half, stride) = (sizes[1] / 2, fusion == 1 ? 2 : 1)
      func part(_ start: Int, _ name: String) throws -> ValueID {
        try emitter.slice(
          x, [SliceRange(start: 0, count: sizes[0]), SliceRange(start: start, count: half, step: stride)],
          step: "\(step)/\(name)")
      }
      (g, l) = (try part(0, "gate_half"), try part(fusion == 1 ? 1 : half, "linear_half"))
    }
    if let limit = node.attributes["swiglu_limit"]?.float {
      g = try emitter.unary(.clip(-.infinity, limit), g, step: "\(step)/gate_limited")
      l = try emitter.unary(.clip(-limit, limit), l, step: "\(step)/linear_limited")
    }
    let (alpha, beta) = (float("activation_alpha", default: 1), float("activation_beta", default: 0))
    let scaled = try emitter.unary(UnaryFunction(.affine, a: alpha), g, step: "\(step)/gate_scaled")
    let open = try emitter.binary(
      .multiply, g, emitter.unary(.sigmoid, scaled, step: "\(step)/sigmoid"), step: "\(step)/open")
    let moved = try emitter.unary(UnaryFunction(.affine, a: 1, b: beta), l, step: "\(step)/linear_moved")
    return try emitter.binary(.multiply, open, moved, step: "\(step)/active")
  }

  /// Returns a layer with integer weights, with a scale for each row or block of a row.
  fileprivate func quantizedExperts(_ layer: Int) throws -> ExpertLayer? {
    let (place, number) = ([2, 5, 8][layer], [1, 2, 3][layer])
    guard let codes = optional(place) else { return nil }
    let sizes = emitter.shape(codes)
    let bits = integer("fc\(number)_expert_weight_bits", default: integer("expert_weight_bits", default: 4))
    guard sizes.rank == 3, sizes.count > 0, [2, 4, 8].contains(bits) else {
      throw unsupported("weights of experts in \(bits) bits: \(emitter.type(codes))")
    }
    let (experts, rows, depth) = (sizes[0], sizes[1], sizes[2] * (8 / bits))
    let given = integer("block_size", default: 0)
    let form = BlockLayout(bits: bits, rows: rows, depth: depth, block: given > 0 ? try blockSize() : depth)
    guard depth % form.block == 0 else { throw emitter.invalid("blocks of \(form.block) in rows of \(depth)") }
    let (bytes, scales) = (try knownBytes(place), try input(place + 1))
    let zeros = try optional(10 + number).map { _ in try knownBytes(10 + number) }
    guard emitter.shape(scales).count == experts * rows * form.blocks else {
      throw emitter.invalid("scales \(emitter.type(scales)) for \(experts) experts of \(rows) rows")
    }
    let table = try emitter.reshape(scales, [experts * rows, form.blocks], step: "scale_rows_\(layer)")
    func part(_ bytes: Bytes, _ expert: Int) throws -> Bytes {
      guard bytes.count % experts == 0,
        let part = bytes.slice(offset: expert * (bytes.count / experts), count: bytes.count / experts)
      else { throw emitter.invalid("\(bytes.count) bytes of \(experts) experts") }
      return part
    }
    return ExpertLayer(experts: experts, rows: rows, depth: depth, bias: optional(place + 2)) { expert in
      let step = "expert_\(expert)/weights_\(layer)"
      let own = try emitter.blocks([expert], of: table, count: experts, step: "\(step)_scales")
      guard let scale = emitter.weight(own) else { throw unsupported("scales of experts that are not constant") }
      let zero = try zeros.map { zeros in
        // Without blocks the zero points of all rows are packed as one row.
        let isOne = given <= 0
        return try packedRows(part(zeros, expert), bits: bits, isOne ? [1, rows] : [rows, form.blocks])
          .reshaped(to: [rows, form.blocks])
      }
      return emitter.constant(try blockWeight(form, part(bytes, expert), scale: scale, zero: zero), step: step)
    }
  }
}
