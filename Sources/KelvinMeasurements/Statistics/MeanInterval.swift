/// The mean of independent samples, with half the width of its 95 % interval (Student's t).
package struct MeanInterval: Sendable, Hashable {
  package let mean: Double
  package let half: Double

  /// - Returns: nil for fewer than two samples.
  package init?(_ samples: [Double]) {
    guard samples.count > 1 else { return nil }
    let count = Double(samples.count)
    let mean = samples.reduce(0) { $0 + $1 / count }
    let variance = samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
    self.mean = mean
    half = StudentT.twoSided(level: 0.05, degrees: samples.count - 1) * (variance / count).squareRoot()
  }
}
