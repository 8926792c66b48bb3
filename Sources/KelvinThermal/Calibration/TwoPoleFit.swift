import Glibc
import KelvinBasics
package import KelvinMeasurements

/// The fit of a two-pole model that explains a series of temperatures by the drawn power.
///
/// T(t) = T₀ + R₁x₁(t) + R₂x₂(t) + c₁e^(−t/τ₁) + c₂e^(−t/τ₂), where xᵢ is the response of a pole with time constant τᵢ
/// to the measured power, stepped exactly from sample to sample. cᵢ is the state of a path at the beginning of the
/// recording.
///
/// The model is linear for given time constants, so only these two are searched: on a logarithmic grid, then by the
/// Gauss–Newton method (variable projection: Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear
/// least squares problems whose variables separate", 1973). Intervals are from block-resampled residuals and the
/// model's derivatives at the optimum.
package struct TwoPoleFit: Sendable, Hashable {
  /// The time constant in seconds and the resistance in kelvin per watt of one path.
  package struct Path: Sendable, Hashable {
    package var tau: Double
    package var tauInterval: ConfidenceInterval
    package var resistance: Double
  }

  package let fast: Path
  package let slow: Path
  /// R₁/(R₁ + R₂).
  package let fastWeight: Double
  package let fastWeightInterval: ConfidenceInterval
  /// T₀ in degrees Celsius: the temperature without power.
  package let zeroPowerCelsius: Double
  /// The watts at which the temperature settles at the limit.
  package let limitWatts: Double
  package let limitWattsInterval: ConfidenceInterval
  /// The root mean square of the residuals, in kelvin.
  package let residual: Double

  /// The ranges of the fast and the slow time constant in seconds. A result at a bound may lie beyond it.
  static let fastRange = 0.5...40.0
  static let slowRange = 15.0...2400.0

  /// - Parameters:
  ///   - times: seconds, ascending.
  ///   - watts: the mean power up to each time.
  ///   - celsius: the temperature at each time.
  ///   - limitCelsius: the temperature that `limitWatts` reaches.
  /// - Returns: nil when no two paths of positive resistance explain the series.
  package init?(times: [Double], watts: [Double], celsius: [Double], limitCelsius: Double, seed: UInt64 = 1) {
    let basis = TwoPoleBasis(times: times, watts: watts)
    let values = basis.windowed(celsius)
    guard let start = Self.coarse(basis, values), let best = Self.refined(basis, values, from: start) else {
      return nil
    }
    let (resistances, offset) = ((best.linear[0], best.linear[1]), best.linear[2])
    guard offset < limitCelsius else { return nil }
    fastWeight = resistances.0 / (resistances.0 + resistances.1)
    zeroPowerCelsius = offset
    limitWatts = (limitCelsius - offset) / (resistances.0 + resistances.1)
    residual = (best.error / Double(values.count)).squareRoot()

    guard let derivatives = LinearLeastSquares(basis.derivatives(best.taus, best.linear)) else { return nil }
    // A sensor's steps and a fan's changes last longer than the cube root of the number of windows. The fit has used a
    // degree of freedom of the blocks, not of the windows, for each of its parameters.
    let length = 2 * Double(values.count).squareRoot().rounded(.up)
    let bootstrap = BlockBootstrap(count: values.count, blockLength: Int(length))
    let blocks = Double(values.count) / length
    let widening = (blocks / max(blocks - 7, 2)).squareRoot()
    var generator = SeededGenerator(seed: seed)
    var replicates = (fast: [Double](), slow: [Double](), weight: [Double](), limit: [Double]())
    var resampled = values
    for _ in 0..<400 {
      bootstrap.resample(using: &generator) { resampled[$0] = widening * best.residuals[$1] }
      let change = derivatives.solve(resampled)
      let (r1, r2) = (max(0, resistances.0 + change[0]), max(1e-9, resistances.1 + change[1]))
      replicates.fast.append(best.taus.fast * exp(change[5]))
      replicates.slow.append(best.taus.slow * exp(change[6]))
      replicates.weight.append(r1 / (r1 + r2))
      replicates.limit.append((limitCelsius - offset - change[2]) / (r1 + r2))
    }
    fast = Path(
      tau: best.taus.fast, tauInterval: BlockBootstrap.interval(replicates.fast), resistance: resistances.0)
    slow = Path(
      tau: best.taus.slow, tauInterval: BlockBootstrap.interval(replicates.slow), resistance: resistances.1)
    fastWeightInterval = BlockBootstrap.interval(replicates.weight)
    limitWattsInterval = BlockBootstrap.interval(replicates.limit)
  }

  private struct Candidate {
    var taus: TwoPoleBasis.Taus
    /// R₁, R₂, T₀, c₁, c₂.
    var linear: [Double]
    var residuals: [Double]
    var error: Double

    /// Fails when the columns are dependent or a resistance is not positive.
    init?(_ basis: TwoPoleBasis, _ values: [Double], _ taus: TwoPoleBasis.Taus, _ columns: [[Double]]? = nil) {
      guard taus.slow > 1.5 * taus.fast, let system = LinearLeastSquares(columns ?? basis.columns(taus)) else {
        return nil
      }
      self.taus = taus
      linear = system.solve(values)
      guard linear[0] > 0, linear[1] > 0 else { return nil }
      residuals = system.residuals(values, linear)
      error = residuals.reduce(0) { $0 + $1 * $1 }
    }
  }

  private static func coarse(_ basis: TwoPoleBasis, _ values: [Double]) -> Candidate? {
    func grid(_ range: ClosedRange<Double>, _ steps: Int) -> [(tau: Double, columns: TwoPoleBasis.Pole)] {
      (0..<steps).map { step in
        let tau = range.lowerBound * pow(range.upperBound / range.lowerBound, Double(step) / Double(steps - 1))
        return (tau, basis.pole(tau))
      }
    }
    let (fast, slow) = (grid(fastRange, 14), grid(slowRange, 16))
    var best: Candidate?
    for (fastTau, fastPole) in fast {
      for (slowTau, slowPole) in slow {
        let columns = basis.columns(fastPole, slowPole)
        guard let candidate = Candidate(basis, values, .init(fast: fastTau, slow: slowTau), columns) else { continue }
        if candidate.error < best?.error ?? .infinity { best = candidate }
      }
    }
    return best
  }

  private static func refined(_ basis: TwoPoleBasis, _ values: [Double], from start: Candidate) -> Candidate? {
    var best = start
    for _ in 0..<40 {
      guard let system = LinearLeastSquares(basis.derivatives(best.taus, best.linear)) else { return best }
      let change = system.solve(best.residuals)
      // The grid's steps are a factor of about 1.4.
      var (fast, slow) = (min(max(change[5], -0.4), 0.4), min(max(change[6], -0.4), 0.4))
      var next: Candidate?
      for _ in 0..<12 {
        let taus = TwoPoleBasis.Taus(
          fast: clamped(best.taus.fast * exp(fast), to: fastRange),
          slow: clamped(best.taus.slow * exp(slow), to: slowRange))
        if let candidate = Candidate(basis, values, taus), candidate.error < best.error {
          next = candidate
          break
        }
        (fast, slow) = (fast / 2, slow / 2)
      }
      guard let next else { return best }
      best = next
      if max(abs(fast), abs(slow)) < 1e-6 { return best }
    }
    return best
  }

  private static func clamped(_ tau: Double, to range: ClosedRange<Double>) -> Double {
    min(max(tau, range.lowerBound), range.upperBound)
  }
}
