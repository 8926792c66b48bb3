internal import CKelvinSupport
import KelvinBasics

extension IndexedPNG {
  /// The samples of a PNG file as they are stored.
  package struct Samples: Hashable, Sendable {
    package var width: Int
    package var height: Int
    /// The samples row by row from the top left: palette indices, or grey levels.
    package var values: [UInt8]
  }

  /// Reads a label map: a PNG with a palette, or grey, of up to 8 bits, not interlaced.
  ///
  /// - Parameter folder: The folder that the file was found in; no link below it is followed.
  /// - Throws: ``ImageError``: `unreadable`, `corrupt`, `tooLarge`; `unknownFormat` for any other image, which has no
  ///   indices.
  package static func read(path: String, below folder: String? = nil) throws(ImageError) -> Samples {
    let data: [UInt8]
    // Only the start of a longer file is read, which then fails as truncated.
    do throws(FileError) { data = try OpenFile(path, below: folder).start(ImageCodec.maximumFileBytes) } catch {
      throw ImageError(.unreadable, path, "cannot \(error.action) it: \(error.reason)")
    }
    return try decode(data, name: path)
  }

  /// Decodes a label map from the bytes of a file, as `read(path:)` does.
  package static func decode(_ file: [UInt8], name: String) throws(ImageError) -> Samples {
    func corrupt(_ reason: String) -> ImageError { ImageError(.corrupt, name, reason) }
    guard file.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) else {
      throw ImageError(.unknownFormat, name, "expected a label map as a PNG file, found another format")
    }
    var (header, packed): ([UInt8], [UInt8]) = ([], [])
    var at = 8
    while at + 12 <= file.count {
      let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard length <= file.count - at - 12 else { throw corrupt("the file ends inside a chunk") }
      let body = at + 8..<at + 8 + length
      switch String(decoding: file[at + 4..<at + 8], as: UTF8.self) {
      case "IHDR": header = Array(file[body])
      case "IDAT": packed += file[body]
      default: break
      }
      at = body.upperBound + 4
    }
    guard header.count == 13 else { throw corrupt("it has no header") }
    let width = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
    let height = header[4..<8].reduce(0) { $0 << 8 | Int($1) }
    let (depth, color) = (Int(header[8]), header[9])
    guard [0, 3].contains(color), [1, 2, 4, 8].contains(depth), header[12] == 0 else {
      throw ImageError(
        .unknownFormat, name,
        "expected a label map with a palette or grey, of at most 8 bits, not interlaced; found colour type \(color) "
          + "of \(depth) bits\(header[12] == 0 ? "" : ", interlaced")",
        remedy: "write one class for each pixel as an indexed PNG")
    }
    guard width > 0, height > 0, width <= ImageCodec.maximumPixels, height <= ImageCodec.maximumPixels / width else {
      throw ImageError(.tooLarge, name, "\(width) x \(height) pixels")
    }
    let stride = (width * depth + 7) / 8
    var rows = [UInt8](repeating: 0, count: (stride + 1) * height)
    guard kelvin_inflate(packed, packed.count, 0, &rows, rows.count) == KELVIN_INFLATED else {
      throw corrupt("its compressed pixels are damaged, or they are not \(width) x \(height)")
    }
    for y in 0..<height {
      guard unfilter(&rows, y * (stride + 1), stride, isFirst: y == 0) else {
        throw corrupt("a row has an unknown filter")
      }
    }
    let values = [UInt8](unsafeUninitializedCapacity: width * height) { target, count in
      for y in 0..<height {
        for x in 0..<width {
          let byte = rows[y * (stride + 1) + 1 + x * depth / 8]
          let shift = 8 - depth - x * depth % 8
          target.initializeElement(at: y * width + x, to: byte >> UInt8(shift) & UInt8(1 << depth - 1))
        }
      }
      count = width * height
    }
    return Samples(width: width, height: height, values: values)
  }

  /// Reverses a row's filter, for samples of at most one byte. Returns false for an unknown filter.
  private static func unfilter(_ rows: inout [UInt8], _ start: Int, _ stride: Int, isFirst: Bool) -> Bool {
    let filter = rows[start]
    guard filter <= 4 else { return false }
    for x in 1...stride {
      let left = x > 1 ? Int(rows[start + x - 1]) : 0
      let above = isFirst ? 0 : Int(rows[start + x - stride - 1])
      let corner = isFirst || x == 1 ? 0 : Int(rows[start + x - stride - 2])
      let guess: Int
      switch filter {
      case 1: guess = left
      case 2: guess = above
      case 3: guess = (left + above) / 2
      case 4:
        let estimate = left + above - corner
        let (a, b, c) = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
        guess = a <= b && a <= c ? left : b <= c ? above : corner
      default: guess = 0
      }
      rows[start + x] &+= UInt8(truncatingIfNeeded: guess)
    }
    return true
  }
}
