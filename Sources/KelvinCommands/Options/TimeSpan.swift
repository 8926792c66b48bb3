import ArgumentParser
import KelvinBasics

/// A parser for options that are durations, in seconds (`DurationText`).
enum TimeSpan {
  /// Parses a duration.
  ///
  /// - Throws: `ValidationError` where the argument is not a duration above 0.
  static func seconds(_ text: String) throws -> Double {
    guard let seconds = DurationText.seconds(text) else {
      throw ValidationError("'\(text)' is not a length of time above 0; use 90, 500ms, 45s, 1.5s, 30m or 1h30m")
    }
    return seconds
  }
}

extension TimeSpan {
  /// Parses a duration, or 0.
  static func secondsOrZero(_ text: String) throws -> Double {
    NumberText.number(text) == 0 ? 0 : try seconds(text)
  }
}

/// Parses a number in decimal digits, as `NumberText` defines it.
///
/// - Throws: `ValidationError` where the argument is not a number.
func decimalNumber(_ text: String) throws -> Double {
  guard let number = NumberText.number(text) else {
    throw ValidationError("'\(text)' is not a number; use digits such as 12, 0.5 or 1e-3")
  }
  return number
}
