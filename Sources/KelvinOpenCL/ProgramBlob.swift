internal import KelvinGraph

/// A 128-bit digest in the manner of FNV-1a: enough to tell sources and accidental damage apart, no defence against
/// malice.
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

/// A program binary as it is kept: magic, digest of what it was built from, digest of the rest; the names of the
/// kernels that have run, each ended by a line feed, a zero; the binary.
struct ProgramBlob {
  var rehearsed: [String]
  var binary: [UInt8]
  private static let magic: [UInt8] = Array("KelvinCL".utf8)

  init(rehearsed: [String], binary: [UInt8]) {
    self.rehearsed = rehearsed
    self.binary = binary
  }

  /// Nil where the blob is damaged or of another origin.
  init?(_ blob: Bytes, origin: Digest) {
    let raw = blob.withUnsafeBytes { Array($0) }
    let header = Self.magic + origin.bytes
    let start = header.count + origin.bytes.count
    guard raw.count > start, raw.starts(with: header) else { return nil }
    let rest = raw[start...]
    guard Array(raw[header.count..<start]) == Digest(rest).bytes, let end = rest.firstIndex(of: 0) else { return nil }
    rehearsed = rest[..<end].split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    binary = Array(rest[(end + 1)...])
  }

  func encoded(origin: Digest) -> [UInt8] {
    let rest = rehearsed.flatMap { Array($0.utf8) + [0x0A] } + [0] + binary
    return Self.magic + origin.bytes + Digest(rest).bytes + rest
  }
}
