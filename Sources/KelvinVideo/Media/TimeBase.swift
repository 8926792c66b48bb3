/// The unit of timestamps: a fraction of a second.
package struct TimeBase: Hashable, Sendable {
  package let numerator: Int32
  package let denominator: Int32

  /// - Returns: nil unless both numbers are positive.
  package init?(_ numerator: Int, _ denominator: Int) {
    guard let numerator = Int32(exactly: numerator), let denominator = Int32(exactly: denominator), numerator > 0,
      denominator > 0
    else { return nil }
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  /// Parses a fraction such as `1/12800`.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let numerator = Int(parts[0]), let denominator = Int(parts[1]) else { return nil }
    self.init(numerator, denominator)
  }

  /// Returns a unit in which the times of a constant rate are whole numbers; 1/90000 for an unknown rate.
  init(framesPerSecond rate: Double?) {
    let common = TimeBase(1, 90_000)
    guard let rate, rate >= 1, rate <= 1000 else {
      self = common ?? Self.microseconds
      return
    }
    // Television's rates are 1000/1001 of whole numbers.
    let (whole, nominal) = (rate.rounded(), (rate * 1.001).rounded())
    if abs(rate - whole) < 1e-6 {
      self = TimeBase(1, Int(whole) * 512) ?? Self.microseconds
    } else if abs(rate * 1.001 - nominal) < 1e-4 {
      self = TimeBase(1, Int(nominal) * 1000) ?? Self.microseconds
    } else {
      self = common ?? Self.microseconds
    }
  }

  private init(denominator: Int32) { (numerator, self.denominator) = (1, denominator) }

  static let microseconds = TimeBase(denominator: 1_000_000)

  private static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

  /// Returns the time of a timestamp, rounded to attoseconds.
  package func time(_ ticks: Int64) -> Duration {
    let (product, divisor) = (Int128(ticks) * Int128(numerator), Int128(denominator))
    var (seconds, rest) = product.quotientAndRemainder(dividingBy: divisor)
    if rest < 0 { (seconds, rest) = (seconds - 1, rest + divisor) }
    let attoseconds = (rest * Self.attosecondsPerSecond + divisor / 2) / divisor
    return Duration(
      secondsComponent: Int64(clamping: seconds), attosecondsComponent: Int64(clamping: attoseconds))
  }

  /// Returns the timestamp that is nearest to a time. Times are limited to ± 10⁹ seconds.
  package func ticks(_ time: Duration) -> Int64 {
    let (seconds, attoseconds) = time.components
    let limit: Int64 = 1_000_000_000
    let total =
      Int128(min(max(seconds, -limit), limit)) * Self.attosecondsPerSecond + Int128(attoseconds)
    let divisor = Int128(numerator) * Self.attosecondsPerSecond
    let scaled = total * Int128(denominator)
    return Int64(clamping: (scaled + (scaled < 0 ? -divisor : divisor) / 2) / divisor)
  }
}

/// One line of the times that a filter of ffmpeg writes: `frame:3    pts:1536    pts_time:0.12`.
package struct FrameTimeLine: Hashable, Sendable {
  /// The number of frames since the filter was set up, which happens again when the frames change their size.
  package let index: Int
  /// The timestamp in the time base of the stream; nil where the stream gives none.
  package let timestamp: Int64?

  /// Parses a line; nil for a line of another kind.
  package init?(_ line: some Collection<UInt8>) {
    let words = line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D })
    guard words.count >= 2, let index = Self.value(of: words[0], "frame:"), let index = Int(index), index >= 0,
      let timestamp = Self.value(of: words[1], "pts:")
    else { return nil }
    self.index = index
    if timestamp == "NOPTS" {
      self.timestamp = nil
    } else {
      guard let ticks = Int64(timestamp), ticks != .min else { return nil }
      self.timestamp = ticks
    }
  }

  private static func value(of word: some Collection<UInt8>, _ key: StaticString) -> String? {
    guard key.withUTF8Buffer({ word.starts(with: $0) }) else { return nil }
    return String(decoding: word.dropFirst(key.utf8CodeUnitCount), as: UTF8.self)
  }
}
