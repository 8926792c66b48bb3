import CKelvinSupport
package import KelvinGraph

/// The SHA-256 digest of contents or of a string; equal digests imply equal contents.
package struct Digest: Hashable, Sendable, CustomStringConvertible {
  package static let byteCount = 32

  package let bytes: [UInt8]

  package init(_ text: String) { self.init(Array(text.utf8)) }

  package init(_ bytes: [UInt8]) { self = bytes.withUnsafeBytes { Digest(of: [$0]) } }

  package init(_ bytes: Bytes) { self = bytes.withUnsafeBytes { Digest(of: [$0]) } }

  /// Creates the digest of the concatenated parts.
  package init(of parts: some Sequence<UnsafeRawBufferPointer>) {
    var state = kelvin_sha256()
    kelvin_sha256_begin(&state)
    for part in parts { kelvin_sha256_add(&state, part.baseAddress, part.count) }
    bytes = [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      kelvin_sha256_end(&state, buffer.baseAddress)
      count = Self.byteCount
    }
  }

  /// The digest as 64 hexadecimal digits.
  package var description: String { Self.text(of: bytes) }

  /// Returns bytes as hexadecimal digits.
  package static func text(of bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
