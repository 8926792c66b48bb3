import ArgumentParser
import Glibc

/// A parser for points in time: `2026-11-01` or `2026-11-01T12:30` in the local time zone, or `30d` for a time span
/// ago.
enum TimestampArgument {
  /// Parses a point in time and returns seconds since 1970.
  ///
  /// - Throws: `ValidationError` where the argument is not a point in time.
  static func seconds(_ text: String) throws -> Double {
    if let date = date(text) { return date }
    guard let span = try? TimeSpan.seconds(text) else {
      throw ValidationError("'\(text)' is not a time; use 2026-11-01, 2026-11-01T12:30 or 30d, 12h, so long ago")
    }
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Double(now.tv_sec) - span
  }

  private static func date(_ text: String) -> Double? {
    let halves = text.split(separator: "T", omittingEmptySubsequences: false)
    let days = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard halves.count <= 2, days.count == 3, let year = number(days[0], 1970...9999),
      let month = number(days[1], 1...12),
      let day = number(days[2], 1...31)
    else { return nil }
    let clock = halves.count == 2 ? halves[1].split(separator: ":", omittingEmptySubsequences: false) : ["0", "0"]
    guard (2...3).contains(clock.count), let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
      let second = clock.count == 3 ? number(clock[2], 0...59) : 0
    else { return nil }
    var parts = tm()
    parts.tm_year = Int32(year - 1900)
    (parts.tm_mon, parts.tm_mday) = (Int32(month - 1), Int32(day))
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
    parts.tm_isdst = -1
    let time = mktime(&parts)
    // `mktime` normalizes dates such as the 31st of a shorter month, which are rejected here.
    return parts.tm_mday == Int32(day) ? Double(time) : nil
  }

  private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
    text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(text).flatMap { range.contains($0) ? $0 : nil } : nil
  }
}
