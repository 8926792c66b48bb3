import Glibc

/// The mean of a short series of correlated neighbours, with an interval that keeps its level for any correlation.
///
/// The series is modelled as an autoregression of first order about its mean, xₜ − μ = ρ (xₜ₋₁ − μ) + eₜ. For a known ρ
/// the generalised least-squares mean is exactly t-distributed over its standard error (Prais and Winsten, 1954). Only
/// ρ is unknown, and a short series determines it poorly.
///
/// The interval is therefore the hull of the exact intervals over every ρ of a grid that the series does not reject:
/// Berger and Boos, "P values maximized over a confidence set for the nuisance parameter", 1994. A ρ is rejected when
/// the sample's correlation of neighbours is far below its expectation ρ − (1 + 4ρ)/n: by more than three standard
/// deviations √((1 − ρ²)/n) (Kendall, "Note on bias in the estimation of autocorrelation", 1954).
///
/// Single disturbed samples are clipped to four scaled median absolute deviations from the median, and count neither
/// for the standard error nor for the degrees of freedom (Tukey and McLaughlin, "Less vulnerable confidence and
/// significance procedures for location", 1963).
package struct CorrelatedMean {
  package let lower: Double
  package let upper: Double
  /// The half-width of the widest of the exact intervals.
  let reach: Double
  /// The distance of μ beyond an edge at which its estimate is beyond the edge in 8 of 10 repetitions.
  let margin: Double

  /// The grid of ρ. The level does not hold for a correlation above the last value.
  private static let correlations = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98]
  private static let tolerance = 3.0
  private static let farthest = 4.0

  /// - Parameters:
  ///   - samples: at least two, in the order of measurement, at equal distances.
  ///   - level: the probability with which the interval may miss the mean, 0 < level < 1.
  package init(_ samples: [Double], level: Double) {
    let (values, clipped) = Self.drawnIn(samples)
    let (count, counted) = (Double(values.count), Double(values.count - clipped))
    let degrees = max(1, values.count - clipped - 1)
    let critical = StudentT.twoSided(level: level, degrees: degrees) * count / max(counted, 1)
    //   T| exceeds this in 4 of 10 repetitions, and T itself in 2.
    let power = StudentT.twoSided(level: 0.4, degrees: degrees) * count / max(counted, 1)
    let sample = Self.correlation(values)
    var (lower, upper, widest) = (Double.infinity, -Double.infinity, 0.0)
    for correlation in Self.correlations {
      let expected = correlation - (1 + 4 * correlation) / count
      let deviation = ((1 - correlation * correlation) / count).squareRoot()
      guard correlation == 0 || sample >= expected - Self.tolerance * deviation else { continue }
      let (mean, error) = Self.mean(values, correlation)
      lower = min(lower, mean - critical * error)
      upper = max(upper, mean + critical * error)
      widest = max(widest, error)
    }
    (self.lower, self.upper) = (lower, upper)
    (reach, margin) = (critical * widest, power * widest)
  }

  /// Returns the generalised least-squares mean for a known correlation, and its standard error.
  private static func mean(_ values: [Double], _ correlation: Double) -> (mean: Double, error: Double) {
    let first = (1 - correlation * correlation).squareRoot()
    let further = 1 - correlation
    let weight = first * first + Double(values.count - 1) * further * further
    func transformed(_ index: Int) -> Double {
      index == 0 ? first * values[0] : values[index] - correlation * values[index - 1]
    }
    let sum = values.indices.reduce(0) { $0 + transformed($1) * ($1 == 0 ? first : further) }
    let mean = sum / weight
    let squares = values.indices.reduce(0) { sum, index in
      let residual = transformed(index) - mean * (index == 0 ? first : further)
      return sum + residual * residual
    }
    return (mean, (squares / Double(values.count - 1) / weight).squareRoot())
  }

  /// Returns the correlation of neighbours about the sample's mean; 0 for a constant series.
  static func correlation(_ values: [Double]) -> Double {
    let mean = values.reduce(0, +) / Double(values.count)
    let deviations = values.map { $0 - mean }
    let power = deviations.reduce(0) { $0 + $1 * $1 }
    return power > 0 ? zip(deviations, deviations.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } / power : 0
  }

  private static func drawnIn(_ samples: [Double]) -> (values: [Double], clipped: Int) {
    func median(_ values: [Double]) -> Double {
      let sorted = values.sorted()
      return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
    let middle = median(samples)
    let reach = farthest * 1.4826 * median(samples.map { abs($0 - middle) })
    // When most samples are equal, the deviation has no scale.
    guard reach > 0 else { return (samples, 0) }
    let values = samples.map { min(max($0, middle - reach), middle + reach) }
    return (values, zip(samples, values).count { $0 != $1 })
  }
}
