import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Multiplies two inputs by NumPy's rules, or one input with a matrix of the layer, stored transposed.
  static let batchedMatmul = LayerMapper(Layers.batchedMatmul) { c in
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
  static let nonMaximumSuppression = LayerMapper(several: Layers.nonMaximumSuppression, valueDependent: [4]) { c in
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
