import Glibc

/// The least-squares fit of y = L∞ − (L∞ − L₀) e^(−t/τ) at fixed times, with positive L₀ and L∞, over a precomputed
/// grid of τ.
struct ExponentialSolver {
  struct Solution {
    var initial: Double
    var settled: Double
    var tau: Double
    /// The sum of squared residuals.
    var error: Double

    var stability: Double { settled > 0 ? initial / settled : .infinity }
    func value(at time: Double) -> Double { settled - (settled - initial) * exp(-time / tau) }
  }

  private struct Basis {
    var tau: Double
    /// e^(−t/τ) at every time.
    var decay: [Double]
    var sum: Double
    var sumOfSquares: Double
  }

  private let bases: [Basis]

  /// Creates a logarithmic grid of τ in seconds; 64 steps over a factor of 100 are 7.6 % apart.
  init(times: [Double], tauFrom shortest: Double, to longest: Double, steps: Int = 64) {
    bases = (0..<steps).map { step in
      let tau = shortest * pow(longest / shortest, Double(step) / Double(steps - 1))
      let decay = times.map { exp(-$0 / tau) }
      return Basis(
        tau: tau, decay: decay, sum: decay.reduce(0, +), sumOfSquares: decay.reduce(0) { $0 + $1 * $1 })
    }
  }

  func solve(_ values: [Double]) -> Solution {
    let n = Double(values.count)
    let sum = values.reduce(0, +)
    let mean = sum / n
    var best = Solution(initial: mean, settled: mean, tau: bases[bases.count - 1].tau, error: .infinity)
    for basis in bases {
      var product = 0.0
      for index in values.indices { product += basis.decay[index] * values[index] }
      let determinant = n * basis.sumOfSquares - basis.sum * basis.sum
      guard determinant > 1e-12 * n * basis.sumOfSquares else { continue }
      let slope = (n * product - basis.sum * sum) / determinant
      let settled = (sum - slope * basis.sum) / n
      // Latencies are positive, both initially and finally.
      guard settled > 0, settled + slope > 0 else { continue }
      var error = 0.0
      for index in values.indices {
        let residual = values[index] - settled - slope * basis.decay[index]
        error += residual * residual
      }
      if error < best.error {
        best = Solution(initial: settled + slope, settled: settled, tau: basis.tau, error: error)
      }
    }
    if !best.error.isFinite { best.error = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } }
    return best
  }
}
