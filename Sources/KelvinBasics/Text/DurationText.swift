/// Durations as text: `90`, `500ms`, `45s`, `1.5s`, `30m`, `1h30m`, `2d`.
package enum DurationText {
  private static let units = ["ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86_400]

  /// Parses a duration. A number without a unit is in seconds, and must be the whole string.
  ///
  /// - Returns: the seconds; nil if the string is not a duration above 0.
  package static func seconds(_ text: String) -> Double? {
    let sum = NumberText.number(text) ?? withUnits(text)
    return sum.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
  }

  private static func withUnits(_ text: String) -> Double? {
    var rest = Substring(text)
    var sum = 0.0
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(number.count)
      let name = rest.prefix { $0.isASCII && $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard let count = NumberText.number(number), let unit = units[String(name)] else { return nil }
      sum += count * unit
    }
    return sum
  }
}
