import KelvinBasics

/// HTML source text. Literals are markup, and interpolated values of type `String` are escaped. So no string from a
/// model file or a driver can become an element or an attribute.
struct Markup: Sendable, Hashable, ExpressibleByStringInterpolation {
  var html: String

  init(stringLiteral value: String) { html = value }
  init(stringInterpolation: StringInterpolation) { html = stringInterpolation.html }
  init(raw html: String) { self.html = html }

  struct StringInterpolation: StringInterpolationProtocol {
    var html = ""

    init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity * 2) }

    mutating func appendLiteral(_ literal: String) { html += literal }
    mutating func appendInterpolation(_ text: String) { html += Markup.escape(Markup.keepingUnits(text)) }
    /// Interpolates a name without spaces, with break opportunities after separators.
    mutating func appendInterpolation(breaking name: String) {
      var part = ""
      for character in name {
        part.append(character)
        guard "_/.:".contains(character) else { continue }
        html += Markup.escape(part) + "<wbr>"
        part = ""
      }
      html += Markup.escape(part)
    }
    mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
    mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { html += part.html } }
    mutating func appendInterpolation(_ number: Int) { html += String(number) }
    /// Interpolates a share of a drawing's width, 0…1, as a percentage with three decimals.
    mutating func appendInterpolation(share: Double) {
      html += HumanReadable.fixed(share.isFinite ? min(max(share, 0), 1) * 100 : 0, decimals: 3) + "%"
    }
    /// Interpolates a coordinate or length of a drawing with one decimal, clamped to 0…1,000,000; 0 where it is not
    /// finite.
    mutating func appendInterpolation(_ coordinate: Double) {
      html += HumanReadable.fixed(coordinate.isFinite ? min(max(coordinate, 0), 1e6) : 0, decimals: 1)
    }
  }

  private static let units: Set<Substring> = [
    "ns", "µs", "ms", "s", "min", "h", "%", "×", "B", "KiB", "MiB", "GiB", "TiB", "J", "mJ", "W", "/s", "frames/s",
  ]

  /// Replaces spaces by non-breaking ones between numbers and units, around `=`, and after `≈`.
  static func keepingUnits(_ text: String) -> String {
    guard text.contains(" ") else { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    var before: Substring = ""
    for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
      let unit = word.prefix { !".,;:)".contains($0) }
      let belongs =
        before.last == "≈" || before == "=" || word == "=" || before.last?.isNumber == true && units.contains(unit)
      if index > 0 { result += belongs ? "\u{A0}" : " " }
      result += word
      before = word
    }
    return result
  }

  /// Escapes a string for element content and quoted attributes. The result is `printable`, except that line feeds and
  /// tabs stay. Right-to-left runs are isolated, so that they do not reorder the surrounding text.
  static func escape(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for run in text.printable(keeping: ["\n", "\t"]).directionalRuns {
      if run.isFromTheRight { result += isolateFromTheRight }
      for scalar in run.text { escape(scalar, into: &result) }
      if run.isFromTheRight { result += endOfIsolate }
    }
    return result
  }

  // Characters are used instead of elements, because attributes and drawings cannot contain elements.
  private static let isolateFromTheRight = "&#x2067;"
  private static let endOfIsolate = "&#x2069;"

  private static func escape(_ scalar: Unicode.Scalar, into result: inout String) {
    switch scalar {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    case "'": result += "&#39;"
    default: result.unicodeScalars.append(scalar)
    }
  }

  static func += (a: inout Markup, b: Markup) { a.html += b.html }
}
