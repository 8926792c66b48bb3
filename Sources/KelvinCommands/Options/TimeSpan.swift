import ArgumentParser
import KelvinBasics

/// A parser for durations, in seconds: `90`, `45s`, `30m`, `1h30m`.
enum TimeSpan {
  private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

  /// Parses a duration.
  ///
  /// - Throws: `ValidationError` where the argument is not a duration above 0.
  static func seconds(_ text: String) throws -> Double {
    var sum = 0.0
    var number = ""
    for character in text {
      guard let unit = units[character] else {
        number.append(character)
        continue
      }
      guard let count = NumberText.number(number), count >= 0 else { throw refusal(text) }
      sum += count * unit
      number = ""
    }
    // A number without a unit is in seconds. It must be the whole argument.
    if !number.isEmpty {
      guard let count = NumberText.number(number), number.count == text.count else { throw refusal(text) }
      sum = count
    }
    guard sum > 0, sum.isFinite else { throw refusal(text) }
    return sum
  }

  private static func refusal(_ text: String) -> ValidationError {
    ValidationError("'\(text)' is not a length of time above 0; use 90, 45s, 30m or 1h30m")
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
