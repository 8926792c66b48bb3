/// Matrix products over the last two axes. Formats reshape one-dimensional operands.
package struct MatMul: Operator {
  package static let name = "matmul"
  package var transposesX: Bool
  package var transposesY: Bool

  package init(transposesX: Bool = false, transposesY: Bool = false) {
    self.transposesX = transposesX
    self.transposesY = transposesY
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 2...2)
    let (x, y) = (inputs[0], inputs[1])
    guard x.scalar.isFloatingPoint, x.scalar == y.scalar, x.shape.rank >= 2, y.shape.rank >= 2 else {
      throw OperatorError("expected two matrices of one floating-point type, got \(x) and \(y)")
    }
    let left = matrix(x.shape, transposed: transposesX)
    let right = matrix(y.shape, transposed: transposesY)
    guard left.columns == right.rows else {
      throw OperatorError("inner sizes differ: \(left.columns) of \(x) and \(right.rows) of \(y)")
    }
    guard let batch = Shape(x.shape.dimensions.dropLast(2)).broadcast(with: Shape(y.shape.dimensions.dropLast(2)))
    else {
      throw OperatorError("leading axes of \(x) and \(y) do not broadcast")
    }
    return [TensorType(x.scalar, Shape(batch.dimensions + [left.rows, right.columns]))]
  }

  /// Returns the length of the sums.
  package func depth(_ inputs: [TensorType]) -> Int { matrix(inputs[0].shape, transposed: transposesX).columns }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(outputs[0].count) * Double(depth(inputs))
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    .accumulation(precision, inputs[0].scalar, length: depth(inputs))
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let (x, y) = (inputs[0].shape, inputs[1].shape)
    let rank = output.shape.rank
    func batch(_ axis: Int, of shape: Shape) -> Int? {
      let own = axis - (rank - shape.rank)
      return own < 0 || shape[own] == 1 ? nil : own
    }
    return (0..<rank - 2).map { SplitAxis($0, self, [batch($0, of: x), batch($0, of: y)]) } + [
      SplitAxis(rank - 2, self, [transposesX ? x.rank - 1 : x.rank - 2, nil]),
      SplitAxis(rank - 1, self, [nil, transposesY ? y.rank - 2 : y.rank - 1]),
    ]
  }

  package static let summary = OperatorSummary(
    formula: "z = x · y, over the last two axes",
    notes: "The axes before them broadcast like in NumPy's `matmul`.",
    inputs: [
      ("x", "`[…, R, K]`, floating-point"),
      ("y", "`[…, K, C]`, x's element type"),
    ],
    outputs: [("z", "`[…, R, C]`, x's element type")])

  package static let schema = AttributeSchema(
    MatMul(), .optional("transposes_x", \.transposesX, "whether the last two axes of x are swapped first"),
    .optional("transposes_y", \.transposesY, "whether the last two axes of y are swapped first"))

  private func matrix(_ shape: Shape, transposed: Bool) -> (rows: Int, columns: Int) {
    let (rows, columns) = (shape[shape.rank - 2], shape[shape.rank - 1])
    return transposed ? (columns, rows) : (rows, columns)
  }
}
