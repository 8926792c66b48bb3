import KelvinMeasurements
import KelvinThermal

/// A series of measurements, some of which others may have disturbed.
protocol Disturbable: AnyObject {
  var sampleCount: Int { get }
  /// Says of all samples from `index` on that they are not to be relied on.
  func markDisturbed(from index: Int)
}

/// Tells measurements apart in which somebody else took processor time: a stretch of a quarter of a second or longer is
/// judged as a whole, and with it every measurement that fell into it.
final class DisturbanceWatch {
  private var watch: ContentionWatch
  private let clock: any MeasurementClock
  /// For each series in the present stretch, its first measurement there.
  private var open: [(series: any Disturbable, first: Int)] = []
  /// Disturbed stretches so far.
  private(set) var count = 0

  init(files: SystemFiles, clock: any MeasurementClock) {
    self.clock = clock
    watch = ContentionWatch(files: files, at: clock.now())
  }

  /// A measurement of this series has just been made. Returns whether a stretch ended with it.
  @discardableResult
  func note(_ series: any Disturbable) -> Bool {
    if !open.contains(where: { $0.series === series }) { open.append((series, series.sampleCount - 1)) }
    return look()
  }

  /// Judges the present stretch, however short, if the counters say anything of it.
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
