/// Minimizes `Σ weight (row · x − target)²` over `x ≥ 0`. A small ridge term divides a sum among columns that the rows
/// do not distinguish.
///
/// Source: C. Lawson, R. Hanson, "Solving Least Squares Problems", 1974, chapter 23. Columns enter one at a time, the
/// one with the steepest descent of the error first, and leave when they would become negative.
package enum NonNegativeLeastSquares {
  /// The ridge relative to the columns' own power, which is scaled to 1.
  private static let ridge = 1e-9

  /// - Parameters:
  ///   - rows: each with the same number of columns.
  ///   - weights: the weights of the squared residuals; all 1 if nil.
  ///   - reluctance: the factor of the ridge for each column: a larger one receives less of an ambiguous sum. All 1 if
  ///     nil.
  /// - Returns: one coefficient for each column; zero for a column of zeros.
  package static func solve(
    _ rows: [[Double]], _ targets: [Double], weights: [Double]? = nil, reluctance: [Double]? = nil
  ) -> [Double] {
    let columns = rows.first?.count ?? 0
    let weights = weights ?? Array(repeating: 1, count: rows.count)
    var scales = Array(repeating: 0.0, count: columns)
    for (row, weight) in zip(rows, weights) {
      for column in 0..<columns { scales[column] += weight * row[column] * row[column] }
    }
    scales = scales.map { $0 > 0 ? 1 / $0.squareRoot() : 0 }
    var gram = Array(repeating: Array(repeating: 0.0, count: columns), count: columns)
    var right = Array(repeating: 0.0, count: columns)
    for ((row, target), weight) in zip(zip(rows, targets), weights) {
      let scaled = zip(row, scales).map { $0 * $1 }
      for a in 0..<columns {
        right[a] += weight * scaled[a] * target
        for b in 0..<columns { gram[a][b] += weight * scaled[a] * scaled[b] }
      }
    }
    for column in 0..<columns { gram[column][column] += ridge * (reluctance?[column] ?? 1) }
    return zip(activeSet(gram, right), scales).map { $0 * $1 }
  }

  private static func activeSet(_ gram: [[Double]], _ right: [Double]) -> [Double] {
    let columns = right.count
    var x = Array(repeating: 0.0, count: columns)
    var isFree = Array(repeating: false, count: columns)
    let tolerance = 1e-12 * (right.map(abs).max() ?? 0)
    // Each round frees one column permanently except for ties; the limit ends repetitions caused by rounding.
    for _ in 0..<3 * columns + 1 {
      let gradient = (0..<columns).map { a in right[a] - zip(gram[a], x).reduce(0) { $0 + $1.0 * $1.1 } }
      guard let entering = (0..<columns).filter({ !isFree[$0] }).max(by: { gradient[$0] < gradient[$1] }),
        gradient[entering] > tolerance
      else { break }
      isFree[entering] = true
      while true {
        let free = (0..<columns).filter { isFree[$0] }
        let trial = solve(gram, right, free)
        let blocking = free.indices.filter { trial[$0] <= 0 }
        if blocking.isEmpty {
          for (position, column) in free.enumerated() { x[column] = trial[position] }
          break
        }
        let step = blocking.map { x[free[$0]] / (x[free[$0]] - trial[$0]) }.filter(\.isFinite).min() ?? 0
        for (position, column) in free.enumerated() { x[column] += step * (trial[position] - x[column]) }
        for position in blocking where x[free[position]] <= 1e-300 || trial[position] <= 0 && step == 0 {
          x[free[position]] = 0
          isFree[free[position]] = false
        }
        for column in free where isFree[column] && x[column] <= 1e-15 {
          x[column] = 0
          isFree[column] = false
        }
      }
    }
    return x
  }

  /// Solves the equations of the free columns by Gaussian elimination; the ridge keeps them regular.
  private static func solve(_ gram: [[Double]], _ right: [Double], _ free: [Int]) -> [Double] {
    var rows = free.map { a in free.map { gram[a][$0] } + [right[a]] }
    let count = free.count
    for pivot in 0..<count {
      let best = (pivot..<count).max { abs(rows[$0][pivot]) < abs(rows[$1][pivot]) } ?? pivot
      rows.swapAt(pivot, best)
      for row in 0..<count where row != pivot {
        let factor = rows[row][pivot] / rows[pivot][pivot]
        guard factor != 0 else { continue }
        for column in pivot...count { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    return (0..<count).map { rows[$0][count] / rows[$0][$0] }
  }
}
