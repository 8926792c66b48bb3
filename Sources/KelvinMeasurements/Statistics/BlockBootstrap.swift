import Glibc
package import KelvinBasics

/// Resampling in circular blocks, which preserves the correlation of neighbouring measurements.
///
/// Source: Politis and Romano, "A circular block-resampling procedure for stationary data", 1992.
package struct BlockBootstrap {
  package let count: Int
  package let blockLength: Int

  /// Creates a resampler. The default block length ⌈∛n⌉ is the usual order of magnitude for means and medians.
  package init(count: Int, blockLength: Int? = nil) {
    self.count = count
    self.blockLength = max(1, min(count, blockLength ?? Int(cbrt(Double(count)).rounded(.up))))
  }

  /// Calls `visit` with `count` resampled indices in order.
  package func resample(using generator: inout SeededGenerator, _ visit: (_ position: Int, _ index: Int) -> Void) {
    var position = 0
    while position < count {
      let start = generator.index(below: count)
      for offset in 0..<min(blockLength, count - position) {
        visit(position + offset, (start + offset) % count)
      }
      position += blockLength
    }
  }

  /// Returns the middle 95 % of bootstrap replicates by nearest rank.
  package static func interval(_ replicates: [Double]) -> ConfidenceInterval {
    let sorted = replicates.sorted()
    return ConfidenceInterval(
      lower: LatencyStatistics.percentile(perMille: 25, ofSorted: sorted),
      upper: LatencyStatistics.percentile(perMille: 975, ofSorted: sorted), confidence: 0.95)
  }
}
