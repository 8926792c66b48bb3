internal import KelvinDevices
internal import KelvinGraph

/// A program binary as stored in a `CheckedBlob`: the names of the kernels that have run, each followed by a line feed,
/// then a zero, then the binary.
struct ProgramBlob {
  var rehearsed: [String]
  var binary: [UInt8]

  init(rehearsed: [String], binary: [UInt8]) {
    self.rehearsed = rehearsed
    self.binary = binary
  }

  /// Returns nil if the blob is damaged or of another origin.
  init?(_ blob: Bytes, origin: Digest) {
    guard let payload = CheckedBlob.payload(of: blob, origin: origin), let end = payload.firstIndex(of: 0) else {
      return nil
    }
    rehearsed = payload[..<end].split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    binary = Array(payload[(end + 1)...])
  }

  func encoded(origin: Digest) -> [UInt8] {
    CheckedBlob.encoded(rehearsed.flatMap { Array($0.utf8) + [0x0A] } + [0] + binary, origin: origin)
  }
}
