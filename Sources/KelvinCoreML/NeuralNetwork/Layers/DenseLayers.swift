import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// `x · Wᵀ + b` along the last axis. With four or five axes, the last three count as one.
  static let innerProduct = LayerMapper(Layers.innerProduct) { c in
    typealias Fields = LayerSchema.InnerProductLayerParams
    let x = try c.input(0)
    let inputs = try c.integer(Fields.inputChannels)
    let outputs = try c.integer(Fields.outputChannels)
    let kept = x.shape.rank >= 4 ? c.lead(x) : Array(x.shape.dimensions.dropLast())
    let rows = kept.reduce(1, *)
    guard inputs > 0, outputs > 0, (1...5).contains(x.shape.rank) else {
      throw c.emitter.invalid("takes vectors of \(inputs) and gives vectors of \(outputs), but the input is \(x.shape)")
    }
    guard x.shape.count % inputs == 0, x.shape.count / inputs == rows else {
      throw c.emitter.invalidSizes("takes vectors of \(inputs), but the input is \(x.shape)")
    }
    let weights = c.emitter.constant(try c.weights(Fields.weights).weight([outputs, inputs]), step: "weights")
    var operands = [try c.view(x, [rows, inputs]), weights]
    if try c.flag(Fields.hasBias) {
      operands.append(try c.constant(try c.weights(Fields.bias), [outputs], step: "bias"))
    }
    let op = Linear(epilogue: Epilogue(hasBias: operands.count == 3))
    let sizes = kept + [outputs] + (x.shape.rank >= 4 ? [1, 1] : [])
    return Blob(try c.emitter.add(op, operands), Shape(sizes))
  }

  /// Looks up rows of a table, stored transposed, by the indices `[…, 1, 1, 1]`.
  static let embedding = LayerMapper(Layers.embedding) { c in
    typealias Fields = LayerSchema.EmbeddingLayerParams
    let x = try c.indices(0)
    guard x.shape.rank >= 4, x.shape.dimensions.suffix(3).allSatisfy({ $0 == 1 }) else {
      throw c.emitter.invalid("expected [batch, 1, 1, 1], got \(x.shape)")
    }
    let size = try c.integer(Fields.outputChannels)
    let rows = try c.embed(
      x, count: try c.integer(Fields.inputDim), size: size, weights: Fields.weights,
      bias: try c.flag(Fields.hasBias) ? Fields.bias : nil)
    return Blob(rows, Shape(c.lead(x) + [size, 1, 1]))
  }

  /// Looks up rows of a table, stored transposed, by the indices `[…, 1]`.
  static let embeddingND = LayerMapper(Layers.embeddingND) { c in
    typealias Fields = LayerSchema.EmbeddingNDLayerParams
    let x = try c.indices(0)
    guard x.shape.rank >= 2, x.shape.dimensions.last == 1 else {
      throw c.emitter.invalid("expected […, 1], got \(x.shape)")
    }
    let size = try c.integer(Fields.embeddingSize)
    let rows = try c.embed(
      x, count: try c.integer(Fields.vocabSize), size: size, weights: Fields.weights,
      bias: try c.flag(Fields.hasBias) ? Fields.bias : nil)
    return Blob(rows, Shape(x.shape.dimensions.dropLast() + [size]))
  }
}

extension LayerContext {
  fileprivate func embed(_ x: Blob, count: Int, size: Int, weights: Int, bias: Int?) throws -> ValueID {
    guard count > 0, size > 0 else { throw emitter.invalid("a table of \(count) rows of \(size)") }
    let stored = emitter.constant(try self.weights(weights).weight([size, count]), step: "weights")
    let table = try emitter.transpose(stored, [1, 0], step: "table")
    let rows = try emitter.add(Gather(axis: 0), table, try view(x, [x.shape.count]), step: bias == nil ? nil : "rows")
    guard let bias else { return rows }
    let addend = try constant(try self.weights(bias), [size], step: "bias")
    return try emitter.binary(.add, rows, addend)
  }
}
