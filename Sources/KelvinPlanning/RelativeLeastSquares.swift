/// Minimizes `Σ w (rows · x / y − 1)²` over `x ≥ 0`, with the weights `w = min(1, 0.1 / |residual|)` of a few rounds of
/// Huber's reweighting (P. Huber, "Robust estimation of a location parameter", Ann. Math. Statist. 35, 1964).
enum RelativeLeastSquares {
  private static let rounds = 8

  /// - Parameter rows: three columns; the coefficient of a column of zeros is zero.
  /// - Returns: nil when the coefficients are undetermined.
  static func solve(_ rows: [SIMD3<Double>], _ y: [Double]) -> SIMD3<Double>? {
    let relative = zip(rows, y).map { $0 / $1 }
    let largest = relative.reduce(SIMD3<Double>.zero) { pointwiseMax($0, $1) }
    let scale = largest.replacing(with: 1, where: largest .<= 0)
    let scaled = relative.map { $0 / scale }
    var weights = Array(repeating: 1.0, count: rows.count)
    var best: SIMD3<Double>?
    for _ in 0..<rounds {
      guard let x = nonNegative(scaled, weights) else { return best }
      best = x / scale
      for (i, row) in scaled.enumerated() { weights[i] = min(1, 0.1 / max(abs(residual(row, x)), 1e-12)) }
    }
    return best
  }

  private static func residual(_ row: SIMD3<Double>, _ x: SIMD3<Double>) -> Double {
    let terms = row * x
    return terms[0] + terms[1] + terms[2] - 1
  }

  /// Tries every set of positive coefficients.
  private static func nonNegative(_ rows: [SIMD3<Double>], _ weights: [Double]) -> SIMD3<Double>? {
    let equations = NormalEquations(rows, weights)
    var best: (error: Double, x: SIMD3<Double>)?
    for set in 1..<8 {
      // The last lane is the right-hand side of the equations.
      let used: SIMDMask<SIMD4<Int64>> = [set & 1 != 0, set & 2 != 0, set & 4 != 0, true]
      guard let x = equations.solution(used), x[0] >= 0, x[1] >= 0, x[2] >= 0, x.sum().isFinite else { continue }
      var error = 0.0
      for (row, weight) in zip(rows, weights) {
        let residual = residual(row, x)
        error += weight * residual * residual
      }
      if best.map({ error < $0.error }) ?? true { best = (error, x) }
    }
    return best?.x
  }
}

/// The normal equations `(AᵀWA) x = AᵀW1` for the rows of A. Each equation has three factors, then its right-hand side.
private struct NormalEquations {
  private var equations = InlineArray<3, SIMD4<Double>>(repeating: .zero)

  init(_ rows: [SIMD3<Double>], _ weights: [Double]) {
    for (row, weight) in zip(rows, weights) {
      let terms = SIMD4(row, 1)
      for column in 0..<3 { equations[column] += weight * row[column] * terms }
    }
  }

  /// Solves the equations by Gaussian elimination with partial pivoting.
  ///
  /// - Parameter used: the columns in use; the coefficients of the others are zero.
  /// - Returns: nil when the used columns are linearly dependent.
  func solution(_ used: SIMDMask<SIMD4<Int64>>) -> SIMD3<Double>? {
    var rows = equations
    for column in 0..<3 {
      guard used[column] else {
        rows[column] = .zero
        rows[column][column] = 1
        continue
      }
      rows[column].replace(with: 0, where: .!used)
    }
    for k in 0..<3 {
      var pivot = k
      for i in k + 1..<3 where abs(rows[i][k]) > abs(rows[pivot][k]) { pivot = i }
      guard abs(rows[pivot][k]) > 1e-12 else { return nil }
      rows.swapAt(k, pivot)
      for i in 0..<3 where i != k {
        rows[i] -= rows[i][k] / rows[k][k] * rows[k]
        // Exactly zero, since a rounding error would propagate to the previous columns.
        rows[i][k] = 0
      }
    }
    return SIMD3(rows[0][3] / rows[0][0], rows[1][3] / rows[1][1], rows[2][3] / rows[2][2])
  }
}
