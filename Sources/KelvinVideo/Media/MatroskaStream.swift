/// A Matroska stream of raw frames with exact times, for the input of ffmpeg. Times are in nanoseconds, and every frame
/// is a cluster of its own, so that its time has 64 bits.
struct MatroskaStream {
  /// The layout of raw frames.
  enum Layout: Hashable {
    /// Red, green, blue, 8 bits each.
    case rgb
    /// A plane of luma, and a plane with pairs of chroma.
    case biplanar

    /// The code of the layout.
    fileprivate var fourCC: [UInt8] {
      switch self {
      case .rgb: Array("RGB".utf8) + [24]
      case .biplanar: Array("NV12".utf8)
      }
    }
  }

  /// The bytes before the first frame.
  ///
  /// - Parameter frameTime: The duration of a frame in nanoseconds; nil for a variable rate.
  static func header(width: Int, height: Int, layout: Layout, frameTime: UInt64?) -> [UInt8] {
    let head = element(
      [0x1A, 0x45, 0xDF, 0xA3],
      number([0x42, 0x86], 1) + number([0x42, 0xF7], 1) + number([0x42, 0xF2], 4) + number([0x42, 0xF3], 8)
        + element([0x42, 0x82], Array("matroska".utf8)) + number([0x42, 0x87], 4) + number([0x42, 0x85], 2))
    let program = Array("Kelvin".utf8)
    let information = element(
      [0x15, 0x49, 0xA9, 0x66],
      number([0x2A, 0xD7, 0xB1], 1) + element([0x4D, 0x80], program) + element([0x57, 0x41], program))
    let picture = element(
      [0xE0],
      number([0xB0], UInt64(width)) + number([0xBA], UInt64(height)) + element([0x2E, 0xB5, 0x24], layout.fourCC))
    let track = element(
      [0xAE],
      number([0xD7], 1) + number([0x73, 0xC5], 1) + number([0x83], 1) + number([0x9C], 0)
        + element([0x86], Array("V_UNCOMPRESSED".utf8)) + (frameTime.map { number([0x23, 0xE3, 0x83], $0) } ?? [])
        + picture)
    // The segment's size is unknown.
    let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67, 0x01] + [UInt8](repeating: 0xFF, count: 7)
    return head + segment + information + element([0x16, 0x54, 0xAE, 0x6B], track)
  }

  /// The bytes before the pixels of a frame.
  ///
  /// - Parameters:
  ///   - time: The time in nanoseconds.
  ///   - byteCount: The bytes of the pixels.
  static func frameHeader(time: UInt64, byteCount: Int) -> [UInt8] {
    let time = number([0xE7], time)
    // The block belongs to track 1, has the cluster's time, and can be decoded alone.
    let block: [UInt8] = [0xA3] + size(UInt64(byteCount) + 4) + [0x81, 0, 0, 0x80]
    return [0x1F, 0x43, 0xB6, 0x75] + size(UInt64(time.count + block.count + byteCount)) + time + block
  }

  private static func element(_ identifier: [UInt8], _ contents: [UInt8]) -> [UInt8] {
    identifier + size(UInt64(contents.count)) + contents
  }

  private static func number(_ identifier: [UInt8], _ value: UInt64) -> [UInt8] {
    element(identifier, bytes(value))
  }

  /// A size in eight bytes, of which the first bit tells the length.
  private static func size(_ value: UInt64) -> [UInt8] { bytes(value | 1 << 56) }

  private static func bytes(_ value: UInt64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}
