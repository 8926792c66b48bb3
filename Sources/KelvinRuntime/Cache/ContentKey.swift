import CKelvinDrivers
package import KelvinGraph

/// A name made from contents: 128 bits as 32 hexadecimal digits.
package struct ContentKey: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ bytes: UnsafeRawBufferPointer) {
    let hash = kelvin_hash(bytes.baseAddress, bytes.count, 0)
    description = Self.hex(hash.high) + Self.hex(hash.low)
  }

  package init(_ bytes: Bytes) { self = bytes.withUnsafeBytes { ContentKey($0) } }

  /// The key of several facts together; no two different lists share a key.
  package init(_ parts: [String]) {
    var text: [UInt8] = []
    for part in parts { text += Array("\(part.utf8.count):\(part)".utf8) }
    self = text.withUnsafeBytes { ContentKey($0) }
  }

  private static func hex(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
