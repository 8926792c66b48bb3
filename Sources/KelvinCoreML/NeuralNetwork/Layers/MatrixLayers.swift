import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Multiplies two inputs by NumPy's rules, or one input with a matrix of the layer, stored transposed.
  static let batchedMatmul = LayerMapper(Layers.batchedMatmul) { layer, scope in
    typealias Fields = LayerSchema.BatchedMatMulLayerParams
    let x = try layer.input(0, scope)
    guard layer.inputs.count == 1 else {
      let y = try layer.input(1, scope)
      // A vector counts as a row or a column, whose axis stays in the result.
      let isRow = x.shape.rank == 1
      let isColumn = y.shape.rank == 1
      let left = isRow ? try scope.view(x, [1, x.shape[0]]) : try scope.logical(x)
      let right = isColumn ? try scope.view(y, [y.shape[0], 1]) : try scope.logical(y)
      return scope.ranked(
        try scope.emitter.matmul(
          left, right, transposesX: try layer.parameters.flag(Fields.transposeA) && !isRow,
          transposesY: try layer.parameters.flag(Fields.transposeB) && !isColumn))
    }
    let inputs = try layer.parameters.integer(Fields.weightMatrixFirstDimension) ?? 0
    let outputs = try layer.parameters.integer(Fields.weightMatrixSecondDimension) ?? 0
    guard inputs > 0, outputs > 0 else { throw scope.emitter.invalid("a matrix of \(inputs) × \(outputs)") }
    let weights = scope.emitter.constant(
      try layer.weights(Fields.weights, scope).weight([outputs, inputs]), step: "weights")
    var operands = [try scope.logical(x), weights]
    if try layer.parameters.flag(Fields.hasBias) {
      operands.append(try scope.constant(try layer.weights(Fields.bias, scope), [outputs], step: "bias"))
    }
    return scope.ranked(
      try scope.emitter.add(Linear(epilogue: Epilogue(hasBias: operands.count == 3)), operands))
  }

  /// Suppresses boxes. The inputs are boxes, scores and optionally the two thresholds and the number of boxes.
  static let nonMaximumSuppression = LayerMapper(several: Layers.nonMaximumSuppression, valueDependent: [4]) {
    layer, scope in
    typealias Fields = LayerSchema.NonMaximumSuppressionLayerParams
    let (boxes, scores) = (try layer.input(0, scope), try layer.input(1, scope))
    func threshold(_ input: Int, _ field: Int, _ step: String) throws -> ValueID {
      if layer.inputs.count > input { return try scope.view(try layer.input(input, scope), []) }
      return scope.scalar(try layer.parameters.number(field) ?? 0, step: step)
    }
    let known = layer.inputs.count > 4 ? try layer.knownIntegers(4, scope).first : nil
    let op = NonMaximumSuppression(
      maximumBoxes: try known ?? layer.parameters.integer(Fields.maxBoxes) ?? 0,
      isPerClass: try layer.parameters.flag(Fields.perClassSuppression))
    let results = try scope.emitter.addAll(
      op,
      [
        try scope.logical(boxes), try scope.logical(scores), try threshold(2, Fields.iouThreshold, "overlap"),
        try threshold(3, Fields.scoreThreshold, "least_score"),
      ])
    return results.map { scope.ranked($0) }
  }
}
