/// The pixels of a BMP file.
///
/// Pixels that run-length encoding leaves out have the first color of the palette. Alpha is composed on black; an image
/// whose alpha is zero everywhere is opaque, as browsers show it.
struct BMPImage {
  private let file: BMPBytes
  private let header: BMPHeader
  /// Red, green and blue, row by row from the top.
  private var pixels: [UInt8]

  /// Decodes a file whose size has been checked.
  ///
  /// - Throws: ``ImageError``: `corrupt`, `unknownFormat`.
  static func decode(_ bytes: UnsafeRawBufferPointer, name: String) throws(ImageError) -> PixelBuffer {
    var image = try BMPImage(BMPBytes(name: name, bytes: bytes))
    switch (image.header.encoding, image.header.bits) {
    case (.runs, _): try image.readRuns()
    case (_, 16), (_, 32): try image.readMasked()
    case (_, 24): try image.readRows { image, row, target in image.copyColors(row, target) }
    default: try image.readRows { image, row, target throws(ImageError) in try image.lookUp(row, target) }
    }
    let (width, height) = (image.header.width, image.header.height)
    return PixelBuffer(trusted: image.pixels, width: width, height: height, format: .rgb8)
  }

  private init(_ file: BMPBytes) throws(ImageError) {
    self.file = file
    header = try BMPHeader(file)
    pixels = [UInt8](repeating: 0, count: header.width * header.height * 3)
  }

  /// Passes each stored row, with the position of its first pixel in `pixels`. The last row may lack its padding.
  private mutating func readRows(
    _ read: (inout BMPImage, UnsafeRawBufferPointer, Int) throws(ImageError) -> Void
  ) throws(ImageError) {
    let used = (header.width * header.bits + 7) / 8
    let needed = header.rowBytes * (header.height - 1) + used
    guard header.pixelOffset <= file.count, needed <= file.count - header.pixelOffset else {
      throw file.corrupt(
        "\(header.width) x \(header.height) pixels of \(header.bits) bits take \(needed) bytes from byte "
          + "\(header.pixelOffset) on; the file has \(file.count) bytes")
    }
    for stored in 0..<header.height {
      let start = header.pixelOffset + stored * header.rowBytes
      try read(&self, UnsafeRawBufferPointer(rebasing: file.bytes[start..<start + used]), target(ofRow: stored))
    }
  }

  private func target(ofRow stored: Int) -> Int {
    (header.isTopDown ? stored : header.height - 1 - stored) * header.width * 3
  }

  private mutating func copyColors(_ row: UnsafeRawBufferPointer, _ target: Int) {
    for byte in stride(from: 0, to: header.width * 3, by: 3) {
      pixels[target + byte] = row[byte + 2]
      pixels[target + byte + 1] = row[byte + 1]
      pixels[target + byte + 2] = row[byte]
    }
  }

  private mutating func lookUp(_ row: UnsafeRawBufferPointer, _ target: Int) throws(ImageError) {
    let (bits, mask) = (header.bits, UInt8(truncatingIfNeeded: 1 << header.bits - 1))
    for x in 0..<header.width {
      let shift = 8 - bits - x * bits % 8
      try put(Int(row[x * bits / 8] >> UInt8(shift) & mask), at: target + x * 3)
    }
  }

  private mutating func put(_ index: Int, at target: Int) throws(ImageError) {
    let colors = header.palette.count / 3
    guard index < colors else {
      throw file.corrupt("a pixel has index \(index) of a palette of \(colors) colors")
    }
    for channel in 0..<3 { pixels[target + channel] = header.palette[index * 3 + channel] }
  }
}

extension BMPImage {
  private mutating func readMasked() throws(ImageError) {
    let channels = header.masks.map(Channel.init)
    let size = header.bits / 8
    var alphas: [UInt8] = []
    try readRows { image, row, target in
      for x in 0..<image.header.width {
        var value: UInt32 = 0
        for byte in (0..<size).reversed() { value = value << 8 | UInt32(row[x * size + byte]) }
        for channel in 0..<3 { image.pixels[target + x * 3 + channel] = channels[channel].value(of: value) }
        if channels[3].mask != 0 { alphas.append(channels[3].value(of: value)) }
      }
    }
    if alphas.contains(where: { $0 != 0 }) { compose(alphas) }
  }

  /// Composes the image on black.
  ///
  /// - Parameter alphas: the alpha of each pixel, row by row as stored.
  private mutating func compose(_ alphas: [UInt8]) {
    for stored in 0..<header.height {
      let target = target(ofRow: stored)
      for x in 0..<header.width {
        let alpha = Int(alphas[stored * header.width + x])
        for channel in target + x * 3..<target + x * 3 + 3 {
          pixels[channel] = UInt8((Int(pixels[channel]) * alpha + 127) / 255)
        }
      }
    }
  }

  /// A channel of a pixel of 16 or 32 bits.
  private struct Channel {
    let mask: UInt32
    private let shift: Int
    private let most: UInt64

    init(_ mask: UInt32) {
      self.mask = mask
      shift = mask == 0 ? 0 : mask.trailingZeroBitCount
      most = UInt64(mask >> UInt32(shift))
    }

    /// Returns the channel as a share of its largest value, in 0...255.
    func value(of pixel: UInt32) -> UInt8 {
      guard most > 0 else { return 0 }
      return UInt8((UInt64((pixel & mask) >> UInt32(shift)) * 255 + most / 2) / most)
    }
  }
}

extension BMPImage {
  /// Decodes RLE8 and RLE4. Each pair of bytes is a count and a value, or zero and a command.
  private mutating func readRuns() throws(ImageError) {
    for y in 0..<header.height {
      for x in 0..<header.width { try put(0, at: target(ofRow: y) + x * 3) }
    }
    var (x, y, at) = (0, 0, header.pixelOffset)
    func next() throws(ImageError) -> Int {
      guard at < file.count else { throw file.corrupt("its run-length encoding ends at row \(y) of \(header.height)") }
      defer { at += 1 }
      return Int(file.bytes[at])
    }
    while y < header.height {
      let (count, value) = (try next(), try next())
      switch (count, value) {
      case (0, 0): (x, y) = (0, y + 1)
      case (0, 1): return
      case (0, 2): (x, y) = (x + (try next()), y + (try next()))
      case (0, _):
        let bytes = (value * header.bits + 7) / 8
        guard bytes <= file.count - at else {
          throw file.corrupt("the file ends inside a run, after \(file.count) bytes")
        }
        for index in 0..<value { try put(index, of: Int(file.bytes[at + index * header.bits / 8]), x + index, y) }
        at += (bytes + 1) / 2 * 2
        x += value
      default:
        for index in 0..<count { try put(index, of: value, x + index, y) }
        x += count
      }
    }
  }

  /// Writes the pixel of a run: a byte holds one index, or two of four bits, the first one in the high bits.
  private mutating func put(_ index: Int, of byte: Int, _ x: Int, _ y: Int) throws(ImageError) {
    guard x < header.width, y < header.height else {
      throw file.corrupt("a run leaves row \(y), which has \(header.width) pixels")
    }
    let value = header.bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15
    try put(value, at: target(ofRow: y) + x * 3)
  }
}
