/// The order of a matrix in memory.
public struct CBLAS_ORDER: Hashable, Sendable {
  let isRowMajor: Bool
}

/// Rows one after the other.
public let CblasRowMajor = CBLAS_ORDER(isRowMajor: true)
/// Columns one after the other.
public let CblasColMajor = CBLAS_ORDER(isRowMajor: false)

/// Whether a matrix is transposed.
public struct CBLAS_TRANSPOSE: Hashable, Sendable {
  let isTransposed: Bool
}

/// The matrix as it is.
public let CblasNoTrans = CBLAS_TRANSPOSE(isTransposed: false)
/// The transposed matrix.
public let CblasTrans = CBLAS_TRANSPOSE(isTransposed: true)

/// Writes `alpha · a · b + beta · c`, with `a` of `m × k` and `b` of `k × n` elements. `c` is not read if `beta` is 0.
public func cblas_sgemm(
  _ order: CBLAS_ORDER, _ transposesA: CBLAS_TRANSPOSE, _ transposesB: CBLAS_TRANSPOSE, _ m: Int32, _ n: Int32,
  _ k: Int32, _ alpha: Float, _ a: UnsafePointer<Float>?, _ lda: Int32, _ b: UnsafePointer<Float>?, _ ldb: Int32,
  _ beta: Float, _ c: UnsafeMutablePointer<Float>?, _ ldc: Int32
) {
  guard let a, let b, let c else { return }
  func place(_ row: Int, _ column: Int, _ leading: Int32, _ isTransposed: Bool) -> Int {
    let (row, column) = isTransposed ? (column, row) : (row, column)
    return order.isRowMajor ? row * Int(leading) + column : column * Int(leading) + row
  }
  for row in 0..<Int(m) {
    for column in 0..<Int(n) {
      var sum: Float = 0
      for inner in 0..<Int(k) {
        sum +=
          a[place(row, inner, lda, transposesA.isTransposed)] * b[place(inner, column, ldb, transposesB.isTransposed)]
      }
      let at = place(row, column, ldc, false)
      c[at] = alpha * sum + (beta == 0 ? 0 : beta * c[at])
    }
  }
}

/// Writes `alpha · a · x + beta · y`, with `a` of `m × n` elements. `y` is not read if `beta` is 0.
public func cblas_sgemv(
  _ order: CBLAS_ORDER, _ transposesA: CBLAS_TRANSPOSE, _ m: Int32, _ n: Int32, _ alpha: Float,
  _ a: UnsafePointer<Float>?, _ lda: Int32, _ x: UnsafePointer<Float>?, _ incX: Int32, _ beta: Float,
  _ y: UnsafeMutablePointer<Float>?, _ incY: Int32
) {
  guard let a, let x, let y else { return }
  let (rows, columns) = transposesA.isTransposed ? (Int(n), Int(m)) : (Int(m), Int(n))
  for row in 0..<rows {
    var sum: Float = 0
    for column in 0..<columns {
      let (i, j) = transposesA.isTransposed ? (column, row) : (row, column)
      sum += a[order.isRowMajor ? i * Int(lda) + j : j * Int(lda) + i] * x[column * Int(incX)]
    }
    let at = row * Int(incY)
    y[at] = alpha * sum + (beta == 0 ? 0 : beta * y[at])
  }
}

/// Returns the sum of the products of elements.
public func cblas_sdot(
  _ n: Int32, _ x: UnsafePointer<Float>?, _ incX: Int32, _ y: UnsafePointer<Float>?, _ incY: Int32
) -> Float {
  guard let x, let y else { return 0 }
  return (0..<Int(n)).reduce(0) { $0 + x[$1 * Int(incX)] * y[$1 * Int(incY)] }
}

/// Returns the Euclidean norm.
public func cblas_snrm2(_ n: Int32, _ x: UnsafePointer<Float>?, _ incX: Int32) -> Float {
  guard let x else { return 0 }
  return (0..<Int(n)).reduce(0) { $0 + x[$1 * Int(incX)] * x[$1 * Int(incX)] }.squareRoot()
}

/// Multiplies each element by a scalar.
public func cblas_sscal(_ n: Int32, _ alpha: Float, _ x: UnsafeMutablePointer<Float>?, _ incX: Int32) {
  guard let x else { return }
  for i in 0..<Int(n) { x[i * Int(incX)] *= alpha }
}

/// Adds `alpha · x` to `y`.
public func cblas_saxpy(
  _ n: Int32, _ alpha: Float, _ x: UnsafePointer<Float>?, _ incX: Int32, _ y: UnsafeMutablePointer<Float>?,
  _ incY: Int32
) {
  guard let x, let y else { return }
  for i in 0..<Int(n) { y[i * Int(incY)] += alpha * x[i * Int(incX)] }
}
