package import KelvinGraph

extension Emitter {
  /// `x · yᵀ` or `x · y`, with NumPy's rules for one-dimensional operands; a constant matrix on the right becomes
  /// weights.
  package func matmul(
    _ x: ValueID, _ y: ValueID, transposesX: Bool = false, transposesY: Bool = false,
    step: String? = nil
  ) throws -> ValueID {
    let (left, right) = (shape(x), shape(y))
    guard left.rank >= 1, right.rank >= 1 else {
      throw invalid("multiplies \(type(x)) and \(type(y)): expected matrices")
    }
    let (turnsX, turnsY) = (transposesX && left.rank >= 2, transposesY && right.rank >= 2)
    if right.rank == 2, weight(y) != nil, !turnsX, scalar(x).isFloatingPoint {
      let weights = transposesY ? y : try transpose(y, [1, 0], step: "transposed_weights")
      return try add(Linear(), x, weights, step: step)
    }
    return try product(x, y, step: step) { try matrixProduct($0, $1, turnsX, turnsY, step: $2) }
  }

  /// Multiplies operands of any ranks by NumPy's rules: a vector on the left is a row, one on the right a column, and
  /// the product has no axis for either.
  ///
  /// - Parameter multiply: Multiplies matrices.
  package func product(
    _ x: ValueID, _ y: ValueID, step: String? = nil,
    _ multiply: (_ rows: ValueID, _ columns: ValueID, _ step: String?) throws -> ValueID
  ) throws -> ValueID {
    let (left, right) = (shape(x), shape(y))
    if left.rank >= 2, right.rank >= 2 { return try multiply(x, y, step) }
    let rows = left.rank == 1 ? try reshape(x, [1, left[0]], step: "row") : x
    let columns = right.rank == 1 ? try reshape(y, [right[0], 1], step: "column") : y
    let product = try multiply(rows, columns, "product")
    var sizes = shape(product).dimensions
    if right.rank == 1 { sizes.removeLast() }
    if left.rank == 1 { sizes.remove(at: sizes.count - (right.rank == 1 ? 1 : 2)) }
    return try reshape(product, Shape(sizes), step: step)
  }

  private static let termLimit = 1 << 28

  /// Returns the product; for integers, each element is a sum of products, exact modulo the type's range.
  private func matrixProduct(
    _ x: ValueID, _ y: ValueID, _ transposesX: Bool, _ transposesY: Bool, step: String?
  ) throws -> ValueID {
    guard !scalar(x).isFloatingPoint else {
      return try add(MatMul(transposesX: transposesX, transposesY: transposesY), x, y, step: step)
    }
    let floats = [x, y].map { TensorType(.float32, shape($0)) }
    let op = MatMul(transposesX: transposesX, transposesY: transposesY)
    let result: Shape
    do { result = try op.infer(floats)[0].shape } catch { throw invalid(error.description) }
    let (terms, overflow) = result.count.multipliedReportingOverflow(by: op.depth(floats))
    guard scalar(x) == scalar(y), !overflow, terms <= Self.termLimit else {
      throw invalid(
        "multiplies \(type(x)) and \(type(y)): expected integers of one type and at most \(Self.termLimit) products")
    }
    let rows = transposesX ? try exchangeLast(x, step: "rows") : x
    let columns = transposesY ? try exchangeLast(y, step: "columns") : y
    let raisedRows = try reshape(rows, Shape(shape(rows).dimensions + [1]), step: "raised_rows")
    var sizes = shape(columns).dimensions
    sizes.insert(1, at: sizes.count - 2)
    let products = try binary(
      .multiply, raisedRows, try reshape(columns, Shape(sizes), step: "raised_columns"), step: "products")
    return try add(Reduce(.sum, axes: [shape(products).rank - 2], keepsDimensions: false), products, step: step)
  }

  private func exchangeLast(_ x: ValueID, step: String) throws -> ValueID {
    let rank = shape(x).rank
    return try transpose(x, Array(0..<rank - 2) + [rank - 1, rank - 2], step: step)
  }
}
