package import KelvinGraph

/// A blob for a `BlobCache` that may hand it back damaged: magic, digest of what it was made from, digest of the
/// payload, payload. Drivers are known to trust their own bytes too much, so they are given what was stored or nothing.
package enum CheckedBlob {
  private static let magic: [UInt8] = Array("KelvinB2".utf8)

  package static func encoded(_ payload: [UInt8], origin: Digest) -> [UInt8] {
    magic + origin.bytes + Digest(payload).bytes + payload
  }

  /// Nil where the blob is damaged or of another origin.
  package static func payload(of blob: Bytes, origin: Digest) -> [UInt8]? {
    blob.withUnsafeBytes { raw in
      let header = magic + origin.bytes
      let start = header.count + Digest.byteCount
      guard raw.count >= start, raw.starts(with: header) else { return nil }
      let payload = Array(raw[start...])
      return raw[header.count..<start].elementsEqual(Digest(payload).bytes) ? payload : nil
    }
  }
}
