import Glibc
package import KelvinGraph

/// What memory for values, scratch and packed weights holds before anything is written to it, where tests ask for a
/// pattern: nothing may rely on zeros, or on what another run left.
package enum PoisonedMemory {
  /// Every byte: the environment variable `KELVIN_FRESH_MEMORY`. 255 makes not-a-number of floats of every size and -1 of
  /// integers. nil where memory is left as it comes.
  package static let filler: UInt8? = getenv("KELVIN_FRESH_MEMORY").flatMap { UInt8(String(cString: $0)) }

  package static func prepare(_ buffer: any Buffer) throws(DeviceError) {
    guard let filler else { return }
    try buffer.fill(with: filler)
  }

  /// Memory of `count` bytes that `fill` is to write in full, and `packedRoom` behind it.
  package static func bytes(
    count: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    let whole = try Bytes(count: count + packedRoom) { (raw) throws(DeviceError) in
      if let filler { raw.initializeMemory(as: UInt8.self, repeating: filler) }
      try fill(UnsafeMutableRawBufferPointer(rebasing: raw[..<count]))
    }
    guard let bytes = whole.slice(offset: 0, count: count) else { preconditionFailure("a part of it") }
    return bytes
  }
}

extension Buffer {
  /// Makes every byte the same.
  package func fill(with byte: UInt8) throws(DeviceError) {
    let piece = Bytes([UInt8](repeating: byte, count: min(byteCount, 1 << 20)))
    for start in stride(from: 0, to: byteCount, by: 1 << 20) {
      try piece.withUnsafeBytes { (raw) throws(DeviceError) in
        try write(UnsafeRawBufferPointer(rebasing: raw[..<min(raw.count, byteCount - start)]), at: start)
      }
    }
  }
}
