import KelvinGraph
public import KelvinImages

/// The arrays a feature takes.
public struct MultiArrayConstraint: Hashable, Sendable {
  /// The usual size of each dimension; where a flexible one has none, its smallest.
  public let shape: [Int]
  /// The type of the elements. Other types are converted.
  public let dataType: MultiArrayDataType
  /// The shapes that are allowed.
  public let shapeConstraint: MultiArrayShapeConstraint

  init(_ scalar: ScalarType, _ dimensions: [Dimension], _ allowed: [Shape]) {
    dataType = MultiArrayDataType(scalar)
    shape = dimensions.map {
      switch $0 {
      case .fixed(let size): size
      case .flexible(_, let range, let standard): standard ?? max(range.lowerBound, min(range.upperBound, 1))
      }
    }
    let ranges = dimensions.map(\.range)
    let isFixed = dimensions.allSatisfy { !$0.isFlexible }
    // As Core ML has it, a fixed shape is an enumeration of one.
    let shapes = isFixed ? [shape] : allowed.map(\.dimensions)
    shapeConstraint = MultiArrayShapeConstraint(
      type: shapes.isEmpty ? .range : .enumerated, sizeRangeForDimension: ranges, enumeratedShapes: shapes)
  }

  /// Whether an array has an allowed shape, and whole numbers where integers are asked for.
  func accepts(_ array: MultiArray) -> Bool {
    shapeConstraint.accepts(array.shape) && array.firstElement(lostAs: dataType) == nil
  }
}

/// The shapes that a feature's arrays may have.
public struct MultiArrayShapeConstraint: Hashable, Sendable {
  /// How shapes are allowed.
  public enum Kind: String, Hashable, Sendable {
    /// Any shape.
    case unspecified
    /// One of ``MultiArrayShapeConstraint/enumeratedShapes``.
    case enumerated
    /// Each size within ``MultiArrayShapeConstraint/sizeRangeForDimension``.
    case range
  }

  /// How shapes are allowed.
  public let type: Kind
  /// The smallest and largest size of each dimension; `Int.max` where there is no largest.
  public let sizeRangeForDimension: [ClosedRange<Int>]
  /// The only shapes there are; empty for ranges.
  public let enumeratedShapes: [[Int]]

  func accepts(_ shape: [Int]) -> Bool {
    switch type {
    case .unspecified: true
    case .enumerated: enumeratedShapes.contains(shape)
    case .range:
      shape.count == sizeRangeForDimension.count && zip(shape, sizeRangeForDimension).allSatisfy { $1.contains($0) }
    }
  }
}

/// The images a feature takes.
public struct ImageConstraint: Hashable, Sendable {
  /// The usual width, in pixels.
  public let pixelsWide: Int
  /// The usual height, in pixels.
  public let pixelsHigh: Int
  /// The channels, in the order in which they enter the model.
  public let channelOrder: ChannelOrder
  /// Whether images are grey ones whose numbers, of float16, are those of the model, as they are; else they are 8 bits a
  /// channel.
  public let isHalfPrecision: Bool
  /// The sizes that are allowed.
  public let sizeConstraint: ImageSizeConstraint

  init(_ image: ImageFeature) {
    isHalfPrecision = image.layout == .grayscaleFloat16
    pixelsWide = image.width
    pixelsHigh = image.height
    channelOrder = image.layout.channelOrder
    sizeConstraint =
      switch image.sizes {
      case .fixed:
        ImageSizeConstraint(
          type: .enumerated, pixelsWideRange: image.width...image.width, pixelsHighRange: image.height...image.height,
          enumeratedImageSizes: [.init(pixelsWide: image.width, pixelsHigh: image.height)])
      case .enumerated(let sizes):
        ImageSizeConstraint(
          type: .enumerated, pixelsWideRange: Self.range(sizes.map(\.width), image.width),
          pixelsHighRange: Self.range(sizes.map(\.height), image.height),
          enumeratedImageSizes: sizes.map { .init(pixelsWide: $0.width, pixelsHigh: $0.height) })
      case .ranged(let widths, let heights):
        ImageSizeConstraint(
          type: .range, pixelsWideRange: widths, pixelsHighRange: heights, enumeratedImageSizes: [])
      }
  }

  private static func range(_ sizes: [Int], _ standard: Int) -> ClosedRange<Int> {
    (sizes.min() ?? standard)...(sizes.max() ?? standard)
  }

  func accepts(width: Int, height: Int) -> Bool {
    switch sizeConstraint.type {
    case .unspecified: true
    case .enumerated:
      sizeConstraint.enumeratedImageSizes.contains(.init(pixelsWide: width, pixelsHigh: height))
    case .range:
      sizeConstraint.pixelsWideRange.contains(width) && sizeConstraint.pixelsHighRange.contains(height)
    }
  }
}

/// The sizes that a feature's images may have.
public struct ImageSizeConstraint: Hashable, Sendable {
  /// How sizes are allowed.
  public enum Kind: String, Hashable, Sendable {
    /// Any size.
    case unspecified
    /// One of ``ImageSizeConstraint/enumeratedImageSizes``.
    case enumerated
    /// Sides within ``ImageSizeConstraint/pixelsWideRange`` and ``ImageSizeConstraint/pixelsHighRange``.
    case range
  }

  /// An image's size.
  public struct Size: Hashable, Sendable {
    /// Pixels in a row.
    public let pixelsWide: Int
    /// Rows.
    public let pixelsHigh: Int

    /// A size in pixels.
    public init(pixelsWide: Int, pixelsHigh: Int) {
      self.pixelsWide = pixelsWide
      self.pixelsHigh = pixelsHigh
    }
  }

  /// How sizes are allowed.
  public let type: Kind
  /// The smallest and largest width, in pixels; `Int.max` where there is no largest.
  public let pixelsWideRange: ClosedRange<Int>
  /// The smallest and largest height, in pixels; `Int.max` where there is no largest.
  public let pixelsHighRange: ClosedRange<Int>
  /// The only sizes there are; empty for ranges.
  public let enumeratedImageSizes: [Size]
}

extension ImageFeature.ColorLayout {
  package var channelOrder: ChannelOrder {
    switch self {
    case .rgb: .rgb
    case .bgr: .bgr
    case .grayscale, .grayscaleFloat16: .grayscale
    }
  }
}
