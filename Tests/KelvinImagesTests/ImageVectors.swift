import Glibc
import KelvinImages

/// The committed images of `Tests/Images`.
enum ImageVectors {
  static let folder = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/Images"

  /// The image files, without what they decode to.
  static let names: [String] = {
    guard let directory = opendir(folder + "/files") else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix("."), !name.hasSuffix(".ppm") { names.append(name) }
    }
    return names.sorted()
  }()

  static func path(_ name: String) -> String { "\(folder)/files/\(name)" }

  static func bytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&part, 1, part.count, file), count > 0 { bytes += part[..<count] }
    return bytes
  }

  /// Returns the expected pixels of an image, upright.
  static func expected(_ name: String) throws -> PixelBuffer {
    let bytes = bytes(path(name) + ".ppm")
    let heading = bytes.prefix { $0 != 0x0A }
    let words = String(decoding: heading, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    guard words.count == 3 else { throw ImageError.notAnImage(name) }
    return try PixelBuffer(
      width: words[0], height: words[1], format: .rgb8, bytes: Array(bytes.dropFirst(heading.count + 1)))
  }

  /// Whether a decoder for this file's format is installed: which ones libvips has is the distribution's choice.
  static func isReadable(_ name: String) -> Bool {
    do throws(ImageError) {
      _ = try ImageCodec.decode(path: path(name))
      return true
    } catch {
      return !error.reason.contains("the installed libvips cannot read")
    }
  }
}

extension ImageError {
  static func notAnImage(_ name: String) -> ImageError { ImageError(.invalidArgument, name, "is not a PPM file") }
}
