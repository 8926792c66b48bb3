internal import CKelvinSupport

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
    func append(_ kind: StaticString, _ data: [UInt8]) {
      let body = kind.withUTF8Buffer { Array($0) } + data
      file += bigEndian(data.count) + body + bigEndian(Int(kelvin_crc32(body, body.count)))
    }
    append("IHDR", bigEndian(width) + bigEndian(height) + [8, 3, 0, 0, 0])
    append("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] })
    append("IDAT", try deflated(filtered(indices, width, height), name))
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

/// Returns a compressed stream of RFC 1950.
private func deflated(_ bytes: [UInt8], _ name: String) throws(ImageError) -> [UInt8] {
  let stream = [UInt8](unsafeUninitializedCapacity: kelvin_deflate_room(bytes.count)) { target, count in
    count = kelvin_deflate(bytes, bytes.count, target.baseAddress)
  }
  guard !stream.isEmpty else { throw ImageError(.tooLarge, name, "\(bytes.count) bytes cannot be compressed") }
  return stream
}

private func bigEndian(_ value: Int) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}
