/// Finds the shares of several plans with the least largest mean load, and the weights with the largest least weighted
/// load, which is equal. This matrix game is solved as the linear program `max Σ y  where  Σ_k y_k L_ki ≤ 1, y ≥ 0`.
/// Scaled to sum to 1, `y` are the shares and its multipliers the weights.
struct MatrixGame {
  private var plans: [[Double]] = []
  private let loads: Int
  private static let mostPivots = 500
  private static let least = 1e-12

  init(loads: Int) { self.loads = loads }

  /// - Parameter plan: the loads of a plan, not all zero.
  mutating func add(_ plan: [Double]) { plans.append(plan) }

  /// - Returns: the weights, the least weighted load under them, and the share of each plan; at most as many shares as
  ///   loads are above 0.
  func solve() -> (weights: [Double], value: Double, shares: [Double]) {
    let scale = plans.lazy.compactMap { $0.max() }.min() ?? 1
    let columns = plans.count + loads
    var rows = (0..<loads).map { load in
      plans.map { $0[load] / scale } + (0..<loads).map { $0 == load ? 1 : 0 } + [1.0]
    }
    var reduced = plans.map { _ in -1.0 } + Array(repeating: 0.0, count: loads + 1)
    var basis = Array(plans.count..<columns)
    for _ in 0..<Self.mostPivots {
      guard let entering = (0..<columns).first(where: { reduced[$0] < -Self.least }) else { break }
      var leaving: (row: Int, ratio: Double)?
      for row in 0..<loads where rows[row][entering] > Self.least {
        let ratio = rows[row][columns] / rows[row][entering]
        if leaving.map({ ratio < $0.ratio || ratio == $0.ratio && basis[row] < basis[$0.row] }) ?? true {
          leaving = (row, ratio)
        }
      }
      guard let row = leaving?.row else { break }
      let pivot = rows[row][entering]
      for column in 0...columns { rows[row][column] /= pivot }
      for other in 0..<loads where other != row {
        let factor = rows[other][entering]
        if factor == 0 { continue }
        for column in 0...columns { rows[other][column] -= factor * rows[row][column] }
      }
      let factor = reduced[entering]
      for column in 0...columns { reduced[column] -= factor * rows[row][column] }
      basis[row] = entering
    }
    let multipliers = (0..<loads).map { max(0, reduced[plans.count + $0]) }
    let sum = multipliers.reduce(0, +)
    var shares = Array(repeating: 0.0, count: plans.count)
    for (row, column) in basis.enumerated() where column < plans.count { shares[column] = max(0, rows[row][columns]) }
    let whole = shares.reduce(0, +)
    if whole > 0 { shares = shares.map { $0 / whole } }
    guard sum > 0 else { return (Array(repeating: 1 / Double(loads), count: loads), 0, shares) }
    let weights = multipliers.map { $0 / sum }
    let value = plans.map { plan in zip(plan, weights).reduce(0) { $0 + $1.0 * $1.1 } }.min() ?? 0
    return (weights, value, shares)
  }
}
