/// Encoding of images of at most 256 colours as PNG files whose samples are given indices.
///
/// libvips chooses the palette of such files itself and does not preserve the indices. Label maps need them, because an
/// index is a class.
package enum IndexedPNG {
  /// A colour of a palette, in sRGB.
  package struct Color: Hashable, Sendable {
    package var red: UInt8
    package var green: UInt8
    package var blue: UInt8

    package init(red: UInt8, green: UInt8, blue: UInt8) {
      self.red = red
      self.green = green
      self.blue = blue
    }
  }

  /// Encodes an image: colour type 3, 8 bits, not interlaced.
  ///
  /// - Parameters:
  ///   - indices: `width * height` indices, row by row from the top left.
  ///   - palette: 1 to 256 colours; every index must select one of them.
  /// - Throws: ``ImageError`` (`invalidArgument`) where the arguments do not match.
  package static func encode(
    width: Int, height: Int, indices: [UInt8], palette: [Color], name: String = "output"
  ) throws(ImageError) -> [UInt8] {
    guard let count = PixelBuffer.byteCount(width, height, .gray8), count == indices.count, width < 1 << 31,
      height < 1 << 31
    else { throw ImageError(.invalidArgument, name, "\(indices.count) indices are not \(width) x \(height) pixels") }
    guard (1...256).contains(palette.count), Int(indices.max() ?? 0) < palette.count else {
      throw ImageError(
        .invalidArgument, name, "\(palette.count) colours are not a palette for indices up to \(indices.max() ?? 0)")
    }
    var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    let checksum = CyclicRedundancy()
    func append(_ kind: StaticString, _ data: [UInt8]) {
      let body = kind.withUTF8Buffer { Array($0) } + data
      file += bigEndian(data.count) + body + bigEndian(Int(checksum.value(of: body)))
    }
    append("IHDR", bigEndian(width) + bigEndian(height) + [8, 3, 0, 0, 0])
    append("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
    append("IDAT", Deflate.zlib(filtered(indices, width, height)))
    append("IEND", [])
    return file
  }

  /// Returns the rows, each after the number of its filter. The filter is "up", the difference from the row above,
  /// which is mostly zero in label maps.
  private static func filtered(_ indices: [UInt8], _ width: Int, _ height: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: (width + 1) * height) { rows, initialized in
      for y in 0..<height {
        let (start, out) = (y * width, y * (width + 1))
        rows.initializeElement(at: out, to: 2)
        for x in 0..<width {
          let above = y > 0 ? indices[start - width + x] : 0
          rows.initializeElement(at: out + 1 + x, to: indices[start + x] &- above)
        }
      }
      initialized = rows.count
    }
  }
}

private func bigEndian(_ value: Int) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}

/// CRC-32 as PNG uses it.
private struct CyclicRedundancy {
  private let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  func value(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
  }
}

/// Deflate (RFC 1951) with fixed codes. Only repetitions of the previous byte are encoded, which suffices for long
/// runs.
private struct Deflate {
  private var bytes: [UInt8] = []
  private var pending: UInt32 = 0
  private var pendingBits = 0

  /// Compresses `data` to an RFC 1950 stream.
  static func zlib(_ data: [UInt8]) -> [UInt8] {
    var stream = Deflate()
    stream.append(0b011, bits: 3)
    var index = 0
    while index < data.count {
      let byte = data[index]
      var run = 1
      while run < 259, index + run < data.count, data[index + run] == byte { run += 1 }
      stream.appendLiteral(Int(byte))
      if run > 3 { stream.appendRepetition(run - 1) } else { run = 1 }
      index += run
    }
    stream.appendLiteral(256)
    if stream.pendingBits > 0 { stream.append(0, bits: 8 - stream.pendingBits) }
    var (low, high) = (1, 0)
    // The checksum is reduced after each block, so that the sums do not overflow.
    for start in stride(from: 0, to: data.count, by: 1 << 16) {
      for index in start..<min(start + 1 << 16, data.count) {
        low &+= Int(data[index])
        high &+= low
      }
      (low, high) = (low % 65521, high % 65521)
    }
    return [0x78, 0x01] + stream.bytes + bigEndian(high << 16 | low)
  }

  private mutating func append(_ value: Int, bits: Int) {
    pending |= UInt32(truncatingIfNeeded: value) << UInt32(pendingBits)
    pendingBits += bits
    while pendingBits >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: pending))
      pending >>= 8
      pendingBits -= 8
    }
  }

  /// Appends a code, the most significant bit first.
  private mutating func appendCode(_ code: Int, bits: Int) {
    append((0..<bits).reduce(0) { $0 | (code >> $1 & 1) << (bits - 1 - $1) }, bits: bits)
  }

  private mutating func appendLiteral(_ symbol: Int) {
    switch symbol {
    case ..<144: appendCode(0x30 + symbol, bits: 8)
    case ..<256: appendCode(0x190 + symbol - 144, bits: 9)
    case ..<280: appendCode(symbol - 256, bits: 7)
    default: appendCode(0xC0 + symbol - 280, bits: 8)
    }
  }

  /// Appends a repetition of the previous byte, 3 to 258 times.
  private mutating func appendRepetition(_ length: Int) {
    var (symbol, base, extra) = (257, 3, 0)
    // The first eight codes stand for one length each. Then every four codes use one extra bit more. Length 258 has its
    // own code.
    while length < 258, base + (1 << extra) <= length {
      base += 1 << extra
      symbol += 1
      if symbol >= 265, (symbol - 265) % 4 == 0 { extra += 1 }
    }
    if length == 258 { (symbol, base, extra) = (285, 258, 0) }
    appendLiteral(symbol)
    append(length - base, bits: extra)
    appendCode(0, bits: 5)
  }
}
