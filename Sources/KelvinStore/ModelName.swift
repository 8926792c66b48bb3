import KelvinBasics

/// The name of a model in a store, with a version if one is chosen: `Digits`, `Digits@1.2.0`.
struct ModelName: Hashable, Sendable {
  let name: String
  let version: String?

  /// Parses a name.
  ///
  /// - Returns: Nil for a string that is not a name, such as most paths.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    guard parts.count <= 2, parts.allSatisfy(Self.isValid) else { return nil }
    name = parts[0]
    version = parts.count == 2 ? parts[1] : nil
  }

  /// Parses a name that a request gives.
  ///
  /// - Throws: `request` for a string that is not a name.
  init(checking text: String) throws(StoreError) {
    guard let name = ModelName(text) else {
      throw StoreError(
        .request,
        "'\(text)' is not the name of a model; use NAME or NAME@VERSION of letters, digits, '.', '_', '-' and '+', each "
          + "beginning with a letter or a digit")
    }
    self = name
  }

  private static let longest = 100

  /// Whether a string can be a name or a version, and so the name of a folder of the store.
  static func isValid(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetterOrDigit(first), text.utf8.count <= longest else { return false }
    return text.utf8.allSatisfy { isLetterOrDigit($0) || "._-+".utf8.contains($0) }
  }

  /// Returns a string with the characters that a name cannot have replaced.
  static func made(from text: String) -> String {
    let bytes = text.utf8.map { isLetterOrDigit($0) || "._-+".utf8.contains($0) ? $0 : UInt8(ascii: "_") }
    let name = String(decoding: bytes.drop { !isLetterOrDigit($0) }.prefix(longest), as: UTF8.self)
    return name.isEmpty ? "model" : name
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
