/// A version of a model: three numbers, and the parts of a pre-release if there are any (Semantic Versioning 2.0.0).
///
/// Build metadata is not accepted, because versions that differ only in it have no order.
package struct SemanticVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  private let numbers: [Int]
  private let prerelease: [String]

  /// Whether the version comes before a release: `2.0.0-beta.1`.
  package var isPrerelease: Bool { !prerelease.isEmpty }

  /// Parses `1.2.0` or `1.2.0-beta.1`; nil for anything else.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.longest else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { Self.number(String(Substring($0))) }
    guard numbers.count == 3, !numbers.contains(nil) else { return nil }
    self.numbers = numbers.compactMap { $0 }
    prerelease =
      parts.count == 1
      ? []
      : parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String(Substring($0)) }
    let isValid = prerelease.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy(Self.isLetter) && (!Self.isNumeric(part) || Self.number(part) != nil)
    }
    guard isValid else { return nil }
  }

  package var description: String {
    numbers.map(String.init).joined(separator: ".")
      + (prerelease.isEmpty ? "" : "-" + prerelease.joined(separator: "."))
  }

  package static func < (a: Self, b: Self) -> Bool {
    guard a.numbers == b.numbers else { return a.numbers.lexicographicallyPrecedes(b.numbers) }
    guard a.isPrerelease, b.isPrerelease else { return a.isPrerelease && !b.isPrerelease }
    for (first, second) in zip(a.prerelease, b.prerelease) where first != second {
      switch (number(first), number(second)) {
      case (let first?, let second?): return first < second
      case (nil, nil): return first.utf8.lexicographicallyPrecedes(second.utf8)
      case (let first, _): return first != nil
      }
    }
    return a.prerelease.count < b.prerelease.count
  }

  private static let longest = 64

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private static func isNumeric(_ text: String) -> Bool {
    text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  /// Returns a number without leading zeros, of at most nine digits.
  private static func number(_ text: String) -> Int? {
    guard isNumeric(text), (1...9).contains(text.utf8.count), text == "0" || text.utf8.first != UInt8(ascii: "0") else {
      return nil
    }
    return Int(text)
  }
}
