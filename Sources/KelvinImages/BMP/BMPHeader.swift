/// The headers and the palette of a BMP file: Windows' versions 1 to 5 and both of OS/2's.
///
/// Source of the format: Microsoft, "Bitmap Storage". Color spaces and color profiles in the header are ignored.
struct BMPHeader {
  enum Encoding {
    case plain
    /// Channels of 16 or 32 bits are selected by masks.
    case masks
    /// Run lengths of indices of 8 or 4 bits.
    case runs
  }

  let width: Int
  let height: Int
  /// Whether the first stored row is the top row.
  let isTopDown: Bool
  /// Bits per pixel: 1, 2, 4, 8, 16, 24 or 32.
  let bits: Int
  let encoding: Encoding
  /// The masks of red, green, blue and alpha in a pixel of 16 or 32 bits. A mask of zero means no such channel.
  let masks: [UInt32]
  /// The red, green and blue of each index; empty above 8 bits.
  let palette: [UInt8]
  /// The position of the first stored row.
  let pixelOffset: Int

  /// The bytes of a stored row that is not run-length encoded, with its padding.
  var rowBytes: Int { (width * bits + 31) / 32 * 4 }
}

extension BMPHeader {
  private static let sizes = [12, 16, 40, 52, 56, 64, 108, 124]

  init(_ file: BMPBytes) throws(ImageError) {
    let size = try file.number(at: 14, bytes: 4)
    guard Self.sizes.contains(size) else {
      throw file.corrupt("its header has \(size) bytes, expected one of \(Self.sizes)")
    }
    let isCore = size == 12
    let sides = isCore ? 2 : 4
    width = try file.signed(at: 18, bytes: sides)
    let rows = try file.signed(at: 18 + sides, bytes: sides)
    bits = try file.number(at: 20 + 2 * sides, bytes: 2)
    let code = size >= 40 ? try file.number(at: 30, bytes: 4) : 0
    (height, isTopDown) = (abs(rows), rows < 0)
    guard width > 0, height > 0 else { throw file.corrupt("its size is \(width) x \(rows) pixels") }
    encoding = try Self.encoding(code, bits: bits, isOS2: size == 64, isTopDown: isTopDown, file)

    // A header of 40 bytes is followed by its masks; longer ones contain them.
    let follow = size > 40 || encoding != .masks ? 0 : code == 6 ? 16 : 12
    masks = try Self.masks(bits, isGiven: encoding == .masks, withAlpha: size >= 56 || code == 6, file)

    pixelOffset = try file.number(at: 10, bytes: 4)
    let start = 14 + size + follow
    let entry = isCore ? 3 : 4
    let used = size >= 40 ? try file.number(at: 46, bytes: 4) : 0
    let most = bits <= 8 ? 1 << bits : 0
    let count = min(used == 0 ? most : used, most, max(0, min(pixelOffset, file.count) - start) / entry)
    var palette: [UInt8] = []
    for index in 0..<count {
      for channel in [2, 1, 0] { palette.append(UInt8(try file.number(at: start + index * entry + channel, bytes: 1))) }
    }
    self.palette = palette
  }

  private static func encoding(
    _ code: Int, bits: Int, isOS2: Bool, isTopDown: Bool, _ file: BMPBytes
  ) throws(ImageError) -> Encoding {
    switch (code, bits) {
    case (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 24), (0, 32): return .plain
    case (1, 8), (2, 4):
      guard !isTopDown else { throw file.corrupt("its rows are run-length encoded, and cannot start at the top") }
      return .runs
    case (3, 16), (3, 32), (6, 16), (6, 32):
      if !isOS2 { return .masks }
    default: break
    }
    throw ImageError(
      .unknownFormat, file.name,
      "the BMP has \(bits) bits per pixel with compression \(code); expected 1 to 32 bits, plain, with masks, RLE4 or "
        + "RLE8",
      remedy: "convert it to PNG")
  }

  private static func masks(
    _ bits: Int, isGiven: Bool, withAlpha: Bool, _ file: BMPBytes
  ) throws(ImageError) -> [UInt32] {
    guard isGiven else { return bits == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF0000, 0xFF00, 0xFF, 0] }
    var masks: [UInt32] = []
    for channel in 0..<4 {
      let isRead = channel < 3 || withAlpha
      masks.append(isRead ? UInt32(try file.number(at: 54 + 4 * channel, bytes: 4)) : 0)
    }
    return masks
  }
}

/// The bytes of a BMP file, with checked reads of its little-endian numbers.
struct BMPBytes {
  let name: String
  let bytes: UnsafeRawBufferPointer

  var count: Int { bytes.count }

  /// Returns an unsigned number.
  func number(at offset: Int, bytes size: Int) throws(ImageError) -> Int {
    guard offset + size <= count else { throw corrupt("the file ends inside its header, after \(count) bytes") }
    var value = 0
    for index in (0..<size).reversed() { value = value << 8 | Int(bytes[offset + index]) }
    return value
  }

  /// Returns a number of 4 bytes with its sign, or an unsigned one of 2 bytes.
  func signed(at offset: Int, bytes size: Int) throws(ImageError) -> Int {
    let value = try number(at: offset, bytes: size)
    return size == 4 ? Int(Int32(truncatingIfNeeded: value)) : value
  }

  func corrupt(_ reason: String) -> ImageError { ImageError(.corrupt, name, "not a valid BMP file: \(reason)") }
}
