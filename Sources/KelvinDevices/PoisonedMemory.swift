import Glibc
package import KelvinGraph

/// The initial contents of memory for values, scratch and packed weights, which tests can set to a pattern: code must
/// not rely on zeros, or on results of another run.
package enum PoisonedMemory {
  /// The value of every byte, from the environment variable `KELVIN_POISON_MEMORY`; nil leaves memory as it is. 255 is
  /// NaN for every floating-point type and -1 for signed integers.
  package static let filler: UInt8? = getenv("KELVIN_POISON_MEMORY").flatMap { UInt8(String(cString: $0)) }

  package static func prepare(_ buffer: any Buffer) throws(DeviceError) {
    guard let filler else { return }
    try buffer.fill(with: filler)
  }

  /// Returns memory of `count` bytes, all written by `fill`, followed by `packedRoom` readable bytes.
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
  /// Sets every byte to the same value.
  package func fill(with byte: UInt8) throws(DeviceError) {
    let piece = Bytes([UInt8](repeating: byte, count: min(byteCount, 1 << 20)))
    for start in stride(from: 0, to: byteCount, by: 1 << 20) {
      try piece.withUnsafeBytes { (raw) throws(DeviceError) in
        try write(UnsafeRawBufferPointer(rebasing: raw[..<min(raw.count, byteCount - start)]), at: start)
      }
    }
  }
}
