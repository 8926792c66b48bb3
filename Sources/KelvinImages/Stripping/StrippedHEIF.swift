/// Returns a complete HEIF or AVIF file, if its length is plausible for its largest image. The file is not reduced,
/// because its items refer to each other by file offsets. Reference: ISO/IEC 14496-12 (boxes) and 23008-12 (`ispe`).
func strippedHEIF(_ source: ImageSource, _ limits: ImageLimits) throws(ImageError) -> StrippedImage {
  var limits = limits
  try HEIFBoxes(source).visit(0..<source.count, depth: 0) { (range) throws(ImageError) in
    let extent = try source.bytes(at: range.lowerBound + 4, atMost: min(8, range.count - 4))
    guard extent.count == 8 else { return }
    func side(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
    try limits.setSize(side(extent[0..<4]), side(extent[4..<8]))
  }
  return try wholeImage(source, limits)
}

/// A visitor of the boxes that contain the sizes of images.
private struct HEIFBoxes {
  private let source: ImageSource
  /// The container boxes that are visited, with the number of bytes of their own fields.
  private static let containers = ["meta": 4, "iprp": 0, "ipco": 0]
  /// The largest number of boxes that are visited per container.
  private static let most = 10_000

  init(_ source: ImageSource) { self.source = source }

  /// - Parameter found: Called with the contents of each `ispe` box.
  func visit(
    _ range: Range<Int>, depth: Int, _ found: (Range<Int>) throws(ImageError) -> Void
  ) throws(ImageError) {
    var reader = ImageReader(source, at: range.lowerBound)
    var seen = 0
    while reader.position + 8 <= range.upperBound, seen < Self.most {
      seen += 1
      let start = reader.position
      var size = try reader.bigEndian(4, of: "a box")
      let type = String(decoding: try reader.bytes(4, of: "a box"), as: UTF8.self)
      if size == 1 {
        guard range.upperBound - reader.position >= 8 else { return }
        size = try reader.bigEndian(8, of: "a box")
      }
      if size == 0 { size = range.upperBound - start }
      // Invalid sizes are left to the decoder to reject.
      guard size >= reader.position - start, size <= range.upperBound - start else { return }
      let contents = reader.position..<start + size
      if type == "ispe", contents.count >= 12 { try found(contents) }
      if let fields = Self.containers[type], depth < 4, contents.count > fields {
        try visit(contents.lowerBound + fields..<contents.upperBound, depth: depth + 1, found)
      }
      reader = ImageReader(source, at: contents.upperBound, keepingWindowOf: reader)
    }
  }
}
