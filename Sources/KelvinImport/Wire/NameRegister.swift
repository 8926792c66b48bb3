import KelvinBasics
import Synchronization

/// The names in a file, told apart by their bytes.
///
/// Graphs and functions compare names as Swift strings, by canonical equivalence. The register returns names for which
/// both comparisons agree: the first of several canonically equivalent names stays as it is, and the others are
/// escaped (``ExactString/escaped``).
package final class NameRegister: Sendable {
  private struct Known {
    /// The bytes that each returned name stands for.
    var bytes: [String: ExactString] = [:]
    var escaped: [ExactString: String] = [:]
  }

  private let known = Mutex(Known())

  package init() {}

  /// Returns the name for a name in the file.
  package func name(_ given: String) -> String {
    // Only a string outside ASCII has equivalents, and only one with a backslash equals an escaped name.
    guard !given.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\\") }) else { return given }
    let exact = ExactString(given)
    return known.withLock { known in
      if let name = known.escaped[exact] { return name }
      if !given.equalsASCII {
        let bytes = known.bytes[given]
        if bytes == nil { known.bytes[given] = exact }
        if bytes ?? exact == exact { return given }
      }
      var name = exact.escaped
      while known.bytes[name] != nil { name += "_" }
      known.bytes[name] = exact
      known.escaped[exact] = name
      return name
    }
  }
}

extension String {
  /// Whether the string has a scalar that is equivalent to one of ASCII: the Greek question mark, the Greek varia or the
  /// kelvin sign.
  fileprivate var equalsASCII: Bool { unicodeScalars.contains { ["\u{37E}", "\u{1FEF}", "\u{212A}"].contains($0) } }
}
