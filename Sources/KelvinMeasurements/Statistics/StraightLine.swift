import Glibc

/// The least-squares line through points: y = `atZero` + `slope` · x.
package struct StraightLine: Sendable, Hashable, Codable {
  /// y at x = 0.
  package let atZero: Double
  package let slope: Double
  /// The root mean square of the points' deviations, each relative to the line's value.
  package let residual: Double

  /// - Throws: `seriesOfDifferentLength`; `tooFewSamples` for fewer than three distinct x; `invalidSample` for a number
  ///   that is not finite.
  package init(_ x: [Double], _ y: [Double]) throws(MeasurementError) {
    guard x.count == y.count else { throw .seriesOfDifferentLength(candidate: x.count, baseline: y.count) }
    guard Set(x).count > 2 else { throw .tooFewSamples(needed: 3, got: Set(x).count) }
    for (index, value) in (x + y).enumerated() where !value.isFinite {
      throw .invalidSample(index: index % x.count, value: value)
    }
    let count = Double(x.count)
    let (meanX, meanY) = (x.reduce(0, +) / count, y.reduce(0, +) / count)
    let spread = x.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }
    let slope = zip(x, y).reduce(0) { $0 + ($1.0 - meanX) * ($1.1 - meanY) } / spread
    let atZero = meanY - slope * meanX
    self.slope = slope
    self.atZero = atZero
    let squares = zip(x, y).reduce(0) { sum, point in
      let own = atZero + slope * point.0
      let share = own == 0 ? 1 : (point.1 - own) / own
      return sum + share * share
    }
    residual = (squares / count).squareRoot()
  }

  package func value(at x: Double) -> Double { atZero + slope * x }
}
