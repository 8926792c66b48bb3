/// The One Euro filter: a low-pass filter whose cutoff frequency rises with the speed of the signal, so that a slow
/// signal does not jitter and a fast one does not lag.
///
/// Casiez, Roussel and Vogel, "1€ filter: A simple speed-based low-pass filter for noisy input in interactive systems",
/// CHI 2012, algorithm 1, for intervals that vary. The speed is here that of the given values, not of a given value
/// from a filtered one, so that it does not depend on the rate of the values.
package struct OneEuroFilter: Sendable {
  /// The parameters of a `OneEuroFilter`.
  package struct Options: Sendable, Hashable, Codable {
    /// The cutoff frequency in Hz of a signal that stands still. A lower one removes more jitter.
    package var cutoff = 1.0
    /// The rise of the cutoff frequency in Hz for each unit per second of speed. A higher one lags less.
    package var speedWeight = 0.5
    /// The cutoff frequency of the speed in Hz.
    package var speedCutoff = 1.0

    /// Creates the default parameters.
    package init() {}
  }

  package let options: Options
  /// The filtered value; nil before the first update.
  package private(set) var value: Double?
  private var lastRaw = 0.0
  private var speed = 0.0
  private var lastTime = 0.0

  /// Creates a filter.
  ///
  /// - Precondition: The cutoff frequencies are positive, and the weight is at least 0.
  package init(_ options: Options = Options()) {
    precondition(options.cutoff > 0 && options.speedCutoff > 0 && options.speedWeight >= 0, "option out of range")
    self.options = options
  }

  /// The largest value and time that are used.
  private static let limit = 1e300

  /// Filters a value. A value or a time that is not a number or larger than 1e300, and a time that is not later than
  /// the previous one, changes nothing.
  ///
  /// - Parameters:
  ///   - raw: The value.
  ///   - time: Its time in seconds.
  ///   - unit: The unit of the speed, as a positive difference of values.
  /// - Returns: The filtered value; `raw` for the first one.
  @discardableResult package mutating func update(_ raw: Double, at time: Double, unit: Double = 1) -> Double {
    guard abs(raw) <= Self.limit, abs(time) <= Self.limit else { return value ?? raw }
    guard let previous = value else {
      (value, lastRaw, lastTime) = (raw, raw, time)
      return raw
    }
    let interval = time - lastTime
    guard interval > 0 else { return previous }
    let change = (raw - lastRaw) / interval
    if change.isFinite { speed += Self.weight(of: options.speedCutoff, interval) * (change - speed) }
    (lastRaw, lastTime) = (raw, time)
    let cutoff = options.cutoff + options.speedWeight * abs(speed) / unit
    let filtered = previous + Self.weight(of: cutoff, interval) * (raw - previous)
    value = filtered
    return filtered
  }

  /// Returns the weight of a new value in a low-pass filter.
  private static func weight(of cutoff: Double, _ interval: Double) -> Double {
    let product = 2 * Double.pi * cutoff * interval
    return product.isFinite ? product / (1 + product) : 1
  }
}
