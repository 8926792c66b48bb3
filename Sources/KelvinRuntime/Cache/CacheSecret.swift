import KelvinDevices

/// Random bytes that only the owner of a cache can read. A message authentication code made with them shows that this
/// user's Kelvin wrote the contents: nobody else can compute the code.
package struct CacheSecret: Sendable {
  static let byteCount = 32
  private let bytes: [UInt8]
  /// The seed of the hashes that detect damage in large regions. Without the secret nobody can prepare a region with
  /// a given hash.
  let seed: UInt64

  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
    let digest = Digest(Array("seed".utf8) + bytes).bytes
    seed = digest.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }

  /// Returns random bytes for a new secret, from the system's generator.
  static func newBytes() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<byteCount).map { _ in .random(in: .min ... .max, using: &generator) }
  }

  /// Returns the authentication code of contents stored under a name: HMAC-SHA-256 (RFC 2104) of the name, a zero
  /// byte and the parts.
  package func code(_ name: String, _ parts: [UnsafeRawBufferPointer]) -> [UInt8] {
    Array("\(name)\0".utf8).withUnsafeBytes { Self.code([$0] + parts, key: bytes) }
  }

  /// Returns the HMAC-SHA-256 with a key of at most 64 bytes.
  package static func code(_ parts: [UnsafeRawBufferPointer], key: [UInt8]) -> [UInt8] {
    func pad(_ byte: UInt8) -> [UInt8] {
      (key + [UInt8](repeating: 0, count: 64 - key.count)).map { $0 ^ byte }
    }
    let inner = pad(0x36).withUnsafeBytes { Digest(of: [$0] + parts) }
    return Digest(pad(0x5C) + inner.bytes).bytes
  }

  /// Whether two codes are equal, compared in constant time.
  static func areEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
    first.count == second.count && zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
