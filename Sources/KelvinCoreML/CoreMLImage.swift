import KelvinGraph
import KelvinImport

/// An `ImageFeatureType` message.
struct CoreMLImage {
  var width = 0
  var height = 0
  var colorSpace = 0
  var sizes = ImageFeature.Sizes.fixed

  /// The greatest width or height of an image, in pixels.
  private static let limit = 1 << 20

  /// Creates the description of an image.
  ///
  /// - Parameters:
  ///   - ranges: The least and the greatest width, then the least and the greatest height; a negative greatest size
  ///     means no limit. May be empty.
  ///   - listed: The enumerated widths and heights, if the file has some.
  init(
    width: Int, height: Int, colorSpace: Int, ranges: [[Int]], listed: [[Int]], _ malformed: (String) -> FormatError
  ) throws(FormatError) {
    self.width = width
    self.height = height
    self.colorSpace = colorSpace
    for size in [[width, height]] + listed {
      guard size.count == 2, size.allSatisfy((1..<Self.limit).contains) else { throw malformed("an image of \(size)") }
    }
    if !listed.isEmpty { sizes = .enumerated(listed.map { ImageFeature.Size(width: $0[0], height: $0[1]) }) }
    if !ranges.isEmpty {
      guard ranges.count == 2, ranges.allSatisfy({ $0.count == 2 }),
        let widths = Self.range(ranges[0][0], ranges[0][1]), let heights = Self.range(ranges[1][0], ranges[1][1])
      else { throw malformed("sizes of \(ranges)") }
      sizes = .ranged(widths: widths, heights: heights)
    }
    listStandard()
  }

  /// Returns the range of sizes between two bounds, or nil if it is empty.
  private static func range(_ lower: Int, _ upper: Int) -> ClosedRange<Int>? {
    let first = max(1, lower)
    let last = upper < 0 ? limit - 1 : min(upper, limit - 1)
    return first <= last ? first...last : nil
  }

  /// Adds the default size to the enumerated sizes if it is missing.
  private mutating func listStandard() {
    let standard = ImageFeature.Size(width: width, height: height)
    if case .enumerated(let list) = sizes, !list.contains(standard) { sizes = .enumerated([standard] + list) }
  }

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = CoreMLSchema.ImageFeatureType
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.width: width = try field.integer()
      case Fields.height: height = try field.integer()
      case Fields.colorSpace: colorSpace = try field.integer()
      case Fields.enumeratedSizes: sizes = try enumerated(field.message())
      case Fields.imageSizeRange: sizes = try ranged(field.message())
      default: break
      }
    }
    if width == 0, height == 0 { takeStandard() }
    try check(width, height, message)
    listStandard()
  }

  /// Sets the default size of an image that does not have one: the first enumerated size, or the smallest.
  private mutating func takeStandard() {
    switch sizes {
    case .fixed: break
    case .enumerated(let list): (width, height) = list.first.map { ($0.width, $0.height) } ?? (0, 0)
    case .ranged(let widths, let heights): (width, height) = (widths.lowerBound, heights.lowerBound)
    }
  }

  /// The color layout; nil for an unknown color space.
  var layout: ImageFeature.ColorLayout? {
    typealias Space = CoreMLSchema.ImageFeatureType.ColorSpace
    return switch colorSpace {
    case Space.grayscale: .grayscale
    case Space.grayscaleFloat16: .grayscaleFloat16
    case Space.rgb: .rgb
    case Space.bgr: .bgr
    default: nil
    }
  }

  private func enumerated(_ message: WireMessage) throws(FormatError) -> ImageFeature.Sizes {
    typealias Fields = CoreMLSchema.ImageFeatureType
    var list: [ImageFeature.Size] = []
    var reader = message.fields()
    while let field = try reader.next() {
      guard field.number == Fields.EnumeratedImageSizes.sizes else { continue }
      try field.check(list.count, WireMessage.operandLimit)
      let size = LayerParameters(try field.message())
      let width = try size.integer(Fields.ImageSize.width) ?? 0
      let height = try size.integer(Fields.ImageSize.height) ?? 0
      try check(width, height, message)
      list.append(ImageFeature.Size(width: width, height: height))
    }
    return list.isEmpty ? .fixed : .enumerated(list)
  }

  private func ranged(_ message: WireMessage) throws(FormatError) -> ImageFeature.Sizes {
    typealias Fields = CoreMLSchema.ImageFeatureType.ImageSizeRange
    let ranges = LayerParameters(message)
    func range(_ field: Int) throws(FormatError) -> ClosedRange<Int> {
      let range = try ranges.message(field)
      let lower = try range?.integer(CoreMLSchema.SizeRange.lowerBound) ?? 1
      let upper = try range?.integer(CoreMLSchema.SizeRange.upperBound) ?? -1
      guard let sizes = Self.range(lower, upper) else {
        throw FormatError(.malformed, file: message.file, offset: message.offset, "sizes from \(lower) to \(upper)")
      }
      return sizes
    }
    return .ranged(widths: try range(Fields.widthRange), heights: try range(Fields.heightRange))
  }

  private func check(_ width: Int, _ height: Int, _ message: WireMessage) throws(FormatError) {
    guard (1..<Self.limit).contains(width), (1..<Self.limit).contains(height) else {
      throw FormatError(
        .malformed, file: message.file, offset: message.offset, "an image of \(width) × \(height) pixels")
    }
  }
}
