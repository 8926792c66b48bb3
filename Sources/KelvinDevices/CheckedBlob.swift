package import KelvinGraph

/// A blob for a `BlobCache` that may return it damaged: magic, digest of its origin, digest of the payload, payload.
/// Many drivers do not validate their own data, so they only receive intact blobs.
package enum CheckedBlob {
  private static let magic: [UInt8] = Array("KelvinB2".utf8)

  package static func encoded(_ payload: [UInt8], origin: Digest) -> [UInt8] {
    magic + origin.bytes + Digest(payload).bytes + payload
  }

  /// Returns the payload; nil if the blob is damaged or has another origin.
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
