/// An EXIF block, from which the orientation of an image is read.
struct EXIFBlock {
  private let bytes: [UInt8]
  private let isLittleEndian: Bool
  /// The signature before the block in a JPEG.
  static let signature = Array("Exif\0\0".utf8)
  /// The keywords of PNG text chunks in which ImageMagick stores the block.
  static let pngKeywords = ["Raw profile type exif", "Raw profile type APP1"]
  private static let orientationTag = 0x0112

  /// Parses a block from hexadecimal digits; nil where the string is not such a block.
  ///
  /// - Parameter hexadecimal: Pairs of digits, with or without EXIF's signature before the TIFF header.
  init?(hexadecimal: String) {
    let digits = hexadecimal.utf8.prefix(1 << 20).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    self.init(bytes.starts(with: Self.signature) ? Array(bytes.dropFirst(Self.signature.count)) : bytes)
  }

  /// Checks the TIFF header; nil where the bytes are not such a block.
  ///
  /// - Parameter bytes: The block from the TIFF header on.
  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4d, 0x4d, 0, 42]) else { return nil }
    self.bytes = bytes
    isLittleEndian = bytes[0] == 0x49
  }

  private func number(at offset: Int, size: Int) -> Int? {
    guard offset >= 0, offset <= bytes.count - size else { return nil }
    let part = bytes[offset..<offset + size]
    return (isLittleEndian ? part.reversed() : Array(part)).reduce(0) { $0 << 8 | Int($1) }
  }

  /// The orientation in the first directory; nil where it is missing or not valid.
  var orientation: ImageOrientation? {
    guard let directory = number(at: 4, size: 4), let count = number(at: directory, size: 2) else { return nil }
    for index in 0..<count {
      let entry = directory + 2 + 12 * index
      guard let tag = number(at: entry, size: 2) else { return nil }
      if tag == Self.orientationTag { return number(at: entry + 8, size: 2).flatMap(ImageOrientation.init(rawValue:)) }
    }
    return nil
  }
}
