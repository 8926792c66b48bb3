extension ImageCodec {
  /// Runs the part of decoding that precedes the decoder.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the image in errors.
  ///   - maximumPixels: The largest width times height that is decoded.
  /// - Returns: The number of bytes that a decoder would receive.
  /// - Throws: ``ImageError``: `unknownFormat`, `tooLarge`, `corrupt`.
  package static func headers(
    _ bytes: UnsafeRawBufferPointer, name: String, maximumPixels: Int = maximumPixels
  ) throws(ImageError) -> Int {
    let source = ImageSource(name: name, memory: bytes)
    return try StrippedImage(of: source, try format(of: source), maximumPixels: maximumPixels).bytes.bytes.count
  }

  /// Returns the format that the first bytes indicate.
  static func format(of source: ImageSource) throws(ImageError) -> ImageFormat {
    guard source.count > 0 else { throw ImageError(.corrupt, source.name, "the file is empty") }
    guard let format = ImageFormat(sniffing: try source.bytes(at: 0, atMost: 16)) else {
      let known = ImageFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw ImageError(
        .unknownFormat, source.name, "the format of the first bytes is unknown; expected one of \(known)")
    }
    return format
  }
}
