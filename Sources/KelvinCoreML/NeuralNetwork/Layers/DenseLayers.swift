import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// `x · Wᵀ + b` along the last axis. With four or five axes, the last three count as one.
  static let innerProduct = LayerMapper(Layers.innerProduct) { layer, scope in
    typealias Fields = LayerSchema.InnerProductLayerParams
    let x = try layer.input(0, scope)
    let inputs = try layer.parameters.integer(Fields.inputChannels) ?? 0
    let outputs = try layer.parameters.integer(Fields.outputChannels) ?? 0
    let kept = x.shape.rank >= 4 ? scope.lead(x) : Array(x.shape.dimensions.dropLast())
    let rows = kept.reduce(1, *)
    guard inputs > 0, outputs > 0, (1...5).contains(x.shape.rank) else {
      throw scope.emitter.invalid(
        "takes vectors of \(inputs) and gives vectors of \(outputs), but the input is \(x.shape)")
    }
    guard x.shape.count % inputs == 0, x.shape.count / inputs == rows else {
      throw scope.emitter.invalidSizes("takes vectors of \(inputs), but the input is \(x.shape)")
    }
    let weights = scope.emitter.constant(
      try layer.weights(Fields.weights, scope).weight([outputs, inputs]), step: "weights")
    var operands = [try scope.view(x, [rows, inputs]), weights]
    if try layer.parameters.flag(Fields.hasBias) {
      operands.append(try scope.constant(try layer.weights(Fields.bias, scope), [outputs], step: "bias"))
    }
    let op = Linear(epilogue: Epilogue(hasBias: operands.count == 3))
    let sizes = kept + [outputs] + (x.shape.rank >= 4 ? [1, 1] : [])
    return Blob(try scope.emitter.add(op, operands), Shape(sizes))
  }

  /// Looks up rows of a table, stored transposed, by the indices `[…, 1, 1, 1]`.
  static let embedding = LayerMapper(Layers.embedding) { layer, scope in
    typealias Fields = LayerSchema.EmbeddingLayerParams
    let x = try layer.indices(0, scope)
    guard x.shape.rank >= 4, x.shape.dimensions.suffix(3).allSatisfy({ $0 == 1 }) else {
      throw scope.emitter.invalid("expected [batch, 1, 1, 1], got \(x.shape)")
    }
    let size = try layer.parameters.integer(Fields.outputChannels) ?? 0
    let rows = try layer.embed(
      x, count: try layer.parameters.integer(Fields.inputDim) ?? 0, size: size, weights: Fields.weights,
      bias: try layer.parameters.flag(Fields.hasBias) ? Fields.bias : nil, scope)
    return Blob(rows, Shape(scope.lead(x) + [size, 1, 1]))
  }

  /// Looks up rows of a table, stored transposed, by the indices `[…, 1]`.
  static let embeddingND = LayerMapper(Layers.embeddingND) { layer, scope in
    typealias Fields = LayerSchema.EmbeddingNDLayerParams
    let x = try layer.indices(0, scope)
    guard x.shape.rank >= 2, x.shape.dimensions.last == 1 else {
      throw scope.emitter.invalid("expected […, 1], got \(x.shape)")
    }
    let size = try layer.parameters.integer(Fields.embeddingSize) ?? 0
    let rows = try layer.embed(
      x, count: try layer.parameters.integer(Fields.vocabSize) ?? 0, size: size, weights: Fields.weights,
      bias: try layer.parameters.flag(Fields.hasBias) ? Fields.bias : nil, scope)
    return Blob(rows, Shape(x.shape.dimensions.dropLast() + [size]))
  }
}

extension NetworkLayer {
  fileprivate func embed(
    _ x: Blob, count: Int, size: Int, weights: Int, bias: Int?, _ scope: LayerScope
  ) throws -> ValueID {
    guard count > 0, size > 0 else { throw scope.emitter.invalid("a table of \(count) rows of \(size)") }
    let stored = scope.emitter.constant(try self.weights(weights, scope).weight([size, count]), step: "weights")
    let table = try scope.emitter.transpose(stored, [1, 0], step: "table")
    let rows = try scope.emitter.add(
      Gather(axis: 0), table, try scope.view(x, [x.shape.count]), step: bias == nil ? nil : "rows")
    guard let bias else { return rows }
    let addend = try scope.constant(try self.weights(bias, scope), [size], step: "bias")
    return try scope.emitter.binary(.add, rows, addend)
  }
}
