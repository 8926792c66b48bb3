import KelvinMeasurements
import KelvinThermal

/// A series of measurements, some of which other processes may have disturbed.
protocol Disturbable: AnyObject {
  var sampleCount: Int { get }
  /// Marks all samples from `index` on as disturbed.
  func markDisturbed(from index: Int)
}

/// Finds measurements during which other processes took processor time. Intervals of at least a quarter of a second are
/// classified as a whole, together with every measurement made in them.
final class DisturbanceWatch {
  private var watch: ContentionWatch
  private let clock: any MeasurementClock
  /// For each series in the current interval, the index of its first measurement there.
  private var open: [(series: any Disturbable, first: Int)] = []
  /// The number of disturbed intervals so far.
  private(set) var count = 0

  init(files: SystemFiles, clock: any MeasurementClock) {
    self.clock = clock
    watch = ContentionWatch(files: files, at: clock.now())
  }

  /// Records that `series` has a new measurement.
  ///
  /// - Returns: whether an interval ended with it.
  @discardableResult
  func note(_ series: any Disturbable) -> Bool {
    if !open.contains(where: { $0.series === series }) { open.append((series, series.sampleCount - 1)) }
    return look()
  }

  /// Waits until the counters can cover the current interval, and classifies it.
  func flush() {
    clock.sleep(until: clock.now() + (open.isEmpty ? 0 : ContentionWatch.shortest))
    look()
  }

  @discardableResult
  private func look() -> Bool {
    guard let contention = watch.interval(at: clock.now()) else { return false }
    if contention.isDisturbed {
      count += 1
      for entry in open { entry.series.markDisturbed(from: entry.first) }
    }
    open = []
    return true
  }
}
