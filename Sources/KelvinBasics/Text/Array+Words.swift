extension [String] {
  /// The elements as an enumeration: `a`, `a and b`, `a, b and c`; empty for none.
  package var inWords: String {
    guard let last, count > 1 else { return first ?? "" }
    return dropLast().joined(separator: ", ") + " and " + last
  }
}
