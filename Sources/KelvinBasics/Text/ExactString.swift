/// A string that is compared by its bytes, as files and model formats compare strings. Swift's `String` compares by
/// canonical equivalence: `"\u{E9}" == "e\u{301}"`.
package struct ExactString: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  package let string: String

  package init(_ string: String) { self.string = string }
  package init(stringLiteral string: String) { self.string = string }

  package static func == (a: Self, b: Self) -> Bool { a.string.utf8.elementsEqual(b.string.utf8) }
  package static func < (a: Self, b: Self) -> Bool { a.string.utf8.lexicographicallyPrecedes(b.string.utf8) }

  package func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  package var description: String { string }

  /// Whether all characters are of ASCII.
  package var isASCII: Bool { string.utf8.allSatisfy { $0 < 0x80 } }

  /// The string with each scalar outside ASCII as `\u{301}`, which shows how canonically equivalent strings differ.
  package var escaped: String {
    isASCII
      ? string
      : string.unicodeScalars.map { $0.isASCII ? "\($0)" : "\\u{\(String($0.value, radix: 16))}" }.joined()
  }
}

extension Sequence<String> {
  /// The strings as strings that are compared by their bytes.
  package var exact: [ExactString] { map { ExactString($0) } }
}

extension Set<String> {
  /// The name under which an element of these bytes would be in the set: escaped where another is canonically equivalent.
  package func name(exact name: String) -> String {
    guard let index = firstIndex(of: name), ExactString(self[index]) != ExactString(name) else { return name }
    return ExactString(name).escaped
  }
}

extension Dictionary where Key == String {
  /// The value of a name by its bytes. Of several canonically equivalent names, the first is the key itself, and the
  /// others are escaped keys.
  package subscript(exact name: String) -> Value? {
    get { self[key(of: name)] }
    set { self[key(of: name)] = newValue }
  }

  private func key(of name: String) -> String {
    let exact = ExactString(name)
    guard let index = index(forKey: name) else {
      return exact.isASCII || self[exact.escaped] == nil ? name : exact.escaped
    }
    return ExactString(self[index].key) == exact ? name : exact.escaped
  }
}
