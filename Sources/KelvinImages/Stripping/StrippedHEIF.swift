/// A HEIF or AVIF file as it is, as long as it is no longer than its largest image allows: its items refer to each other
/// by places in the file. Reference: ISO/IEC 14496-12 (boxes) and 23008-12 (`ispe`).
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

/// Walks the boxes that lead to the sizes of images.
private struct HEIFBoxes {
  private let source: ImageSource
  /// What holds boxes, by the bytes that its own fields take.
  private static let containers = ["meta": 4, "iprp": 0, "ipco": 0]
  /// Boxes of a container that are looked at.
  private static let most = 10_000

  init(_ source: ImageSource) { self.source = source }

  /// - Parameter found: told the contents of each `ispe`.
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
      // What does not fit is the decoder's to refuse.
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
