/// A map of byte strings to their normal forms, as models of SentencePiece hold it: a double array whose values are
/// positions in a block of strings that end in zeros.
///
/// Reference: Aoe, "An efficient digital search algorithm by using a double-array structure" (1989); the units are those
/// of Darts-clone.
package struct CharacterMap: Hashable, Sendable {
  private let units: [UInt32]
  private let forms: [UInt8]

  /// Reads a map: the number of bytes of the array, the array and the forms.
  ///
  /// - Returns: nil for bytes of another form.
  package init?(_ bytes: [UInt8]) {
    func word(_ offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * $1) } }
    guard bytes.count > 4 else { return nil }
    let size = Int(word(0))
    guard size > 0, size % 4 == 0, size <= bytes.count - 4 else { return nil }
    units = stride(from: 4, to: 4 + size, by: 4).map(word)
    forms = Array(bytes[(4 + size)...])
  }

  /// Returns the normal form of the longest byte string of the map that a text begins with, and that string's length.
  func form(of text: some Collection<UInt8>) -> (form: ArraySlice<UInt8>, length: Int)? {
    var found: (form: ArraySlice<UInt8>, length: Int)?
    var place = Self.offset(units[0])
    for (depth, byte) in text.enumerated() {
      place ^= Int(byte)
      guard units.indices.contains(place), units[place] & 0x8000_00FF == UInt32(byte) else { break }
      let unit = units[place]
      place ^= Self.offset(unit)
      if unit >> 8 & 1 == 1, units.indices.contains(place) {
        let start = Int(units[place] & 0x7FFF_FFFF)
        guard start <= forms.count else { break }
        found = (forms[start...].prefix { $0 != 0 }, depth + 1)
      }
    }
    return found
  }

  private static func offset(_ unit: UInt32) -> Int { Int(unit >> 10) << Int(unit >> 6 & 8) }
}
