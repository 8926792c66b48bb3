/// Ordinary least squares on given columns, factored once for any number of right-hand sides.
///
/// The normal equations of columns scaled to length 1 are solved by Cholesky factorization.
struct LinearLeastSquares {
  private let columns: [[Double]]
  private let scales: [Double]
  /// The lower triangle, row by row.
  private let factor: [[Double]]

  /// Fails when columns are linearly dependent.
  init?(_ columns: [[Double]]) {
    self.columns = columns
    scales = columns.map { column in
      let length = Self.product(column, column).squareRoot()
      return length > 0 ? 1 / length : 0
    }
    var factor: [[Double]] = []
    for row in columns.indices {
      var entries: [Double] = []
      for column in 0...row {
        let gram = Self.product(columns[row], columns[column]) * scales[row] * scales[column]
        let known = column < row ? factor[column] : entries
        let rest = gram - zip(entries, known).reduce(0) { $0 + $1.0 * $1.1 }
        if column < row {
          entries.append(rest / factor[column][column])
        } else {
          guard rest > 1e-12 else { return nil }
          entries.append(rest.squareRoot())
        }
      }
      factor.append(entries)
    }
    self.factor = factor
  }

  /// Returns one coefficient for each column.
  func solve(_ values: [Double]) -> [Double] {
    var solution: [Double] = []
    for row in factor.indices {
      let right = Self.product(columns[row], values) * scales[row]
      solution.append((right - zip(solution, factor[row]).reduce(0) { $0 + $1.0 * $1.1 }) / factor[row][row])
    }
    for row in factor.indices.reversed() {
      for below in factor.indices where below > row { solution[row] -= factor[below][row] * solution[below] }
      solution[row] /= factor[row][row]
    }
    return zip(solution, scales).map { $0 * $1 }
  }

  /// Returns `values` minus the part that the columns with these coefficients explain.
  func residuals(_ values: [Double], _ coefficients: [Double]) -> [Double] {
    var residuals = values
    for (column, coefficient) in zip(columns, coefficients) {
      for index in residuals.indices { residuals[index] -= coefficient * column[index] }
    }
    return residuals
  }

  private static func product(_ a: [Double], _ b: [Double]) -> Double {
    var sum = 0.0
    for index in a.indices { sum += a[index] * b[index] }
    return sum
  }
}
