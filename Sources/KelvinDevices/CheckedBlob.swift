package import KelvinGraph

/// A 128-bit digest in the manner of FNV-1a: enough to tell sources and accidental damage apart, no defence against
/// malice.
package struct Digest: Hashable, Sendable, CustomStringConvertible {
  private var low: UInt64 = 0xcbf2_9ce4_8422_2325
  private var high: UInt64 = 0x6c62_272e_07bb_0142

  package init() {}

  package init(_ text: String) { add(text.utf8) }

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      low = (low ^ UInt64(byte)) &* 0x100_0000_01b3
      high = (high ^ UInt64(byte) ^ low >> 32) &* 0x100_0000_01b3
    }
  }

  package var description: String { String(high, radix: 16) + String(low, radix: 16) }

  package var bytes: [UInt8] {
    [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }
}

/// A blob for a `BlobCache` that may hand it back damaged: magic, digest of what it was made from, digest of the
/// payload, payload. Drivers are known to trust their own bytes too much, so they are given what was stored or nothing.
package enum CheckedBlob {
  private static let magic: [UInt8] = Array("KelvinB1".utf8)

  package static func encoded(_ payload: [UInt8], origin: Digest) -> [UInt8] {
    var digest = Digest()
    digest.add(payload)
    return magic + origin.bytes + digest.bytes + payload
  }

  /// Nil where the blob is damaged or of another origin.
  package static func payload(of blob: Bytes, origin: Digest) -> [UInt8]? {
    blob.withUnsafeBytes { raw in
      let header = magic + origin.bytes
      let start = header.count + origin.bytes.count
      guard raw.count >= start, raw.starts(with: header) else { return nil }
      let payload = Array(raw[start...])
      var digest = Digest()
      digest.add(payload)
      return raw[header.count..<start].elementsEqual(digest.bytes) ? payload : nil
    }
  }
}
