import KelvinBasics

/// HTML text. A literal is markup, an interpolated `String` is text and is escaped: nothing from a model file or a
/// driver can become an element or an attribute.
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
    /// A name without spaces, which may be broken behind what separates its parts.
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
    /// A share of a drawing's width, 0…1 shown as a percentage to three decimals.
    mutating func appendInterpolation(share: Double) {
      html += HumanReadable.fixed(share.isFinite ? min(max(share, 0), 1) * 100 : 0, decimals: 3) + "%"
    }
    /// A coordinate or length in a drawing: one decimal, never negative, never anything but a number.
    mutating func appendInterpolation(_ coordinate: Double) {
      html += HumanReadable.fixed(coordinate.isFinite ? min(max(coordinate, 0), 1e6) : 0, decimals: 1)
    }
  }

  private static let units: Set<Substring> = [
    "ns", "µs", "ms", "s", "min", "h", "%", "×", "B", "KiB", "MiB", "GiB", "TiB", "J", "mJ", "W", "/s", "frames/s",
  ]

  /// The text with spaces that do not break between numbers and their units, around `=`, and behind `≈`.
  static func keepingUnits(_ text: String) -> String {
    guard text.contains(" ") else { return text }
    var result = ""
    result.reserveCapacity(text.utf8.count)
    var before: Substring = ""
    for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
      let unit = word.prefix { !".,;:)".contains($0) }
      let belongs = before.last == "≈" || before == "=" || word == "=" || before.last?.isNumber == true && units.contains(unit)
      if index > 0 { result += belongs ? "\u{A0}" : " " }
      result += word
      before = word
    }
    return result
  }

  /// Safe in element content and in quoted attributes, and `printable`; what is written from the right is isolated. So
  /// nothing changes the order of the text around it. Line feeds and tabs, which are spaces there, stay.
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

  // Characters rather than elements: drawings and attributes hold no others.
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
