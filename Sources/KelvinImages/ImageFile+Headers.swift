extension ImageFile {
  /// Reads what decoding reads of an encoded image before any decoder sees it.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - name: what errors call the image.
  ///   - maximumPixels: the largest width times height that is decoded.
  /// - Returns: how many bytes a decoder would be given.
  /// - Throws: ``ImageError``: `unknownFormat`, `tooLarge`, `corrupt`.
  package static func headers(
    _ bytes: UnsafeRawBufferPointer, name: String, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> Int {
    let source = ImageSource(name: name, memory: bytes)
    return try StrippedImage(of: source, try format(of: source), maximumPixels: maximumPixels).bytes.bytes.count
  }

  /// The format that the first bytes are of.
  static func format(of source: ImageSource) throws(ImageError) -> ImageFormat {
    guard source.count > 0 else { throw ImageError(.corrupt, source.name, "the file is empty") }
    guard let format = ImageFormat(sniffing: try source.bytes(at: 0, atMost: 16)) else {
      let known = ImageFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw ImageError(.unknownFormat, source.name, "the first bytes are of no known format; expected one of \(known)")
    }
    return format
  }
}
