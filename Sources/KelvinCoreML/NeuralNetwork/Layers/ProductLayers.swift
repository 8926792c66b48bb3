import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let products: [LayerMapper] = [innerProduct, embedding, embeddingND, batchedMatmul, nonMaximumSuppression]

  /// `x · Wᵀ + b` along the last axis. With four or five axes, the last three count as one.
  private static let innerProduct = LayerMapper(Layers.innerProduct) { c in
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
  private static let embedding = LayerMapper(Layers.embedding) { c in
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
  private static let embeddingND = LayerMapper(Layers.embeddingND) { c in
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

  /// Multiplies two inputs by NumPy's rules, or one input with a matrix of the layer, stored transposed.
  private static let batchedMatmul = LayerMapper(Layers.batchedMatmul) { c in
    typealias Fields = LayerSchema.BatchedMatMulLayerParams
    let x = try c.input(0)
    guard c.inputs.count == 1 else {
      let y = try c.input(1)
      // A vector counts as a row or a column, whose axis stays in the result.
      let isRow = x.shape.rank == 1
      let isColumn = y.shape.rank == 1
      let left = isRow ? try c.view(x, [1, x.shape[0]]) : try c.logical(x)
      let right = isColumn ? try c.view(y, [y.shape[0], 1]) : try c.logical(y)
      return c.ranked(
        try c.emitter.matmul(
          left, right, transposesX: try c.flag(Fields.transposeA) && !isRow,
          transposesY: try c.flag(Fields.transposeB) && !isColumn))
    }
    let inputs = try c.integer(Fields.weightMatrixFirstDimension)
    let outputs = try c.integer(Fields.weightMatrixSecondDimension)
    guard inputs > 0, outputs > 0 else { throw c.emitter.invalid("a matrix of \(inputs) × \(outputs)") }
    let weights = c.emitter.constant(try c.weights(Fields.weights).weight([outputs, inputs]), step: "weights")
    var operands = [try c.logical(x), weights]
    if try c.flag(Fields.hasBias) {
      operands.append(try c.constant(try c.weights(Fields.bias), [outputs], step: "bias"))
    }
    return c.ranked(try c.emitter.add(Linear(epilogue: Epilogue(hasBias: operands.count == 3)), operands))
  }

  /// Suppresses boxes. The inputs are boxes, scores and optionally the two thresholds and the number of boxes.
  private static let nonMaximumSuppression = LayerMapper(several: Layers.nonMaximumSuppression, valueDependent: [4]) {
    c in
    typealias Fields = LayerSchema.NonMaximumSuppressionLayerParams
    let (boxes, scores) = (try c.input(0), try c.input(1))
    func threshold(_ input: Int, _ field: Int, _ step: String) throws -> ValueID {
      if c.inputs.count > input { return try c.view(try c.input(input), []) }
      return c.scalar(try c.number(field), step: step)
    }
    let known = c.inputs.count > 4 ? try c.knownIntegers(4).first : nil
    let op = NonMaximumSuppression(
      maximumBoxes: try known ?? c.integer(Fields.maxBoxes),
      isPerClass: try c.flag(Fields.perClassSuppression))
    let results = try c.emitter.addAll(
      op,
      [
        try c.logical(boxes), try c.logical(scores), try threshold(2, Fields.iouThreshold, "overlap"),
        try threshold(3, Fields.scoreThreshold, "least_score"),
      ])
    return results.map { c.ranked($0) }
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
