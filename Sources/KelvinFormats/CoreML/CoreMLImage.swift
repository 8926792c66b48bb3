import KelvinGraph

/// An `ImageFeatureType`.
struct CoreMLImage {
  var width = 0
  var height = 0
  var colorSpace = 0
  var sizes = ImageFeature.Sizes.fixed

  /// The longest side a picture may have.
  private static let limit = 1 << 20

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
    try check(width, height, message)
    let standard = ImageFeature.Size(width: width, height: height)
    if case .enumerated(let list) = sizes, !list.contains(standard) { sizes = .enumerated([standard] + list) }
  }

  /// The layout, nil for a colour space that is not known.
  var layout: ImageFeature.ColorLayout? {
    typealias Space = CoreMLSchema.ImageFeatureType.ColorSpace
    return switch colorSpace {
    case Space.grayscale, Space.grayscaleFloat16: .grayscale
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
      let lower = max(1, try range?.integer(CoreMLSchema.SizeRange.lowerBound) ?? 1)
      let upper = try range?.integer(CoreMLSchema.SizeRange.upperBound) ?? -1
      let last = upper < 0 ? Self.limit - 1 : min(upper, Self.limit - 1)
      guard lower <= last else {
        throw FormatError(.malformed, file: message.file, offset: message.offset, "sizes from \(lower) to \(upper)")
      }
      return lower...last
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
