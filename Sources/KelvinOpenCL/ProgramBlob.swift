internal import KelvinGraph

/// A 128-bit FNV-1a digest: enough to tell sources and accidental damage apart, no defence against malice.
struct Digest: Hashable, CustomStringConvertible {
  private(set) var low: UInt64 = 0xcbf2_9ce4_8422_2325
  private(set) var high: UInt64 = 0x6c62_272e_07bb_0142

  init(_ text: String) { self.init(text.utf8) }

  init(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      low = (low ^ UInt64(byte)) &* 0x100_0000_01b3
      high = (high ^ UInt64(byte) ^ low >> 32) &* 0x100_0000_01b3
    }
  }

  var description: String { String(high, radix: 16) + String(low, radix: 16) }

  var bytes: [UInt8] {
    [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }
}

/// A program binary as it is kept: magic, digest of what it was built from, digest of the binary, the binary.
enum ProgramBlob {
  private static let magic: [UInt8] = Array("KelvinCL".utf8)

  static func encode(_ binary: [UInt8], _ origin: Digest) -> [UInt8] {
    magic + origin.bytes + Digest(binary).bytes + binary
  }

  /// The binary inside a blob, or nil where the blob is damaged or of another origin.
  static func binary(of blob: Bytes, _ origin: Digest) -> [UInt8]? {
    blob.withUnsafeBytes { raw in
      let header = magic.count + 32
      guard raw.count > header, Array(raw.prefix(magic.count)) == magic,
        Array(raw[magic.count..<magic.count + 16]) == origin.bytes
      else { return nil }
      let binary = Array(raw.dropFirst(header))
      return Array(raw[magic.count + 16..<header]) == Digest(binary).bytes ? binary : nil
    }
  }
}
