/// A model of the seconds to move n bytes, `latency + n / bytesPerSecond`, fitted to measured medians.
///
/// The fit is a least-squares fit weighted by 1/t², so that a small copy counts as much as a large one. Neither term is
/// negative.
package struct TransferFit: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    package var bytes: Int
    /// The median of its samples.
    package var seconds: Double

    package init(bytes: Int, seconds: Double) {
      self.bytes = bytes
      self.seconds = seconds
    }
  }

  /// The rate of a copy without cost per byte, above the speed of any memory.
  package static let unlimited = 1e15

  package let latency: Double
  package let bytesPerSecond: Double
  /// The largest relative difference between the fit and a point.
  package let largestError: Double

  /// - Parameter points: at least one with positive seconds; otherwise the fit has no cost.
  package init(_ points: [Point]) {
    let usable = points.filter { $0.seconds > 0 && $0.seconds.isFinite && $0.bytes >= 0 }
    var (sumW, sumX, sumXX, sumY, sumXY) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for point in usable {
      let weight = 1 / (point.seconds * point.seconds)
      let bytes = Double(point.bytes)
      sumW += weight
      sumX += weight * bytes
      sumXX += weight * bytes * bytes
      sumY += weight * point.seconds
      sumXY += weight * bytes * point.seconds
    }
    let determinant = sumW * sumXX - sumX * sumX
    var slope = determinant > 1e-12 * sumW * sumXX ? (sumW * sumXY - sumX * sumY) / determinant : 0
    var intercept = sumW > 0 ? (sumY - slope * sumX) / sumW : 0
    if slope < 0 { (slope, intercept) = (0, sumW > 0 ? sumY / sumW : 0) }
    if intercept < 0 { (slope, intercept) = (sumXX > 0 ? sumXY / sumXX : 0, 0) }
    latency = intercept
    bytesPerSecond = slope > 0 ? min(1 / slope, Self.unlimited) : Self.unlimited
    largestError = usable.reduce(0) { worst, point in
      max(worst, abs(intercept + slope * Double(point.bytes) - point.seconds) / point.seconds)
    }
  }
}
