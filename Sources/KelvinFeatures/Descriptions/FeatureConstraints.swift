import KelvinGraph
public import KelvinImages

/// The arrays that a feature accepts.
public struct MultiArrayConstraint: Hashable, Sendable {
  /// The default size of each dimension; the smallest size for a flexible dimension without a default.
  public let shape: [Int]
  /// The type of the elements. Arrays of other types are converted.
  public let dataType: MultiArrayDataType
  /// The allowed shapes.
  public let shapeConstraint: MultiArrayShapeConstraint

  init(_ scalar: ScalarType, _ dimensions: [Dimension], _ allowed: [Shape], isOpen: Bool = false) {
    dataType = MultiArrayDataType(scalar)
    shape = dimensions.map {
      switch $0 {
      case .fixed(let size): size
      case .flexible(_, let range, let standard): standard ?? max(range.lowerBound, min(range.upperBound, 1))
      }
    }
    let ranges = dimensions.map(\.range)
    let isFixed = dimensions.allSatisfy { !$0.isFlexible }
    // Core ML represents a fixed shape as an enumeration of one shape.
    let shapes = isFixed ? [shape] : allowed.map(\.dimensions)
    shapeConstraint = MultiArrayShapeConstraint(
      type: isOpen ? .unspecified : shapes.isEmpty ? .range : .enumerated, sizeRangeForDimension: ranges,
      enumeratedShapes: isOpen ? [] : shapes)
  }

  /// Returns whether an array has an allowed shape, and contains only integers if the feature's type is an integer
  /// type.
  func accepts(_ array: MultiArray) -> Bool {
    shapeConstraint.accepts(array.shape) && array.firstElement(lostAs: dataType) == nil
  }
}

/// The allowed shapes of a feature's arrays.
public struct MultiArrayShapeConstraint: Hashable, Sendable {
  /// The kind of a shape constraint.
  public enum Kind: String, Hashable, Sendable {
    /// Any shape.
    case unspecified
    /// One of ``MultiArrayShapeConstraint/enumeratedShapes``.
    case enumerated
    /// Each size within ``MultiArrayShapeConstraint/sizeRangeForDimension``.
    case range
  }

  /// The kind of the constraint.
  public let type: Kind
  /// The allowed sizes of each dimension. The upper bound is `Int.max` for an unbounded dimension.
  public let sizeRangeForDimension: [ClosedRange<Int>]
  /// The allowed shapes if they are enumerated; empty for ranges.
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

/// The images that a feature accepts.
public struct ImageConstraint: Hashable, Sendable {
  /// The default width, in pixels.
  public let pixelsWide: Int
  /// The default height, in pixels.
  public let pixelsHigh: Int
  /// The order of the channels in the model's input.
  public let channelOrder: ChannelOrder
  /// Whether the images are grayscale float16 images whose values the model uses unchanged. Otherwise they have 8 bits
  /// per channel.
  public let isHalfPrecision: Bool
  /// The allowed sizes.
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

/// The allowed sizes of a feature's images.
public struct ImageSizeConstraint: Hashable, Sendable {
  /// The kind of a size constraint.
  public enum Kind: String, Hashable, Sendable {
    /// Any size.
    case unspecified
    /// One of ``ImageSizeConstraint/enumeratedImageSizes``.
    case enumerated
    /// A width within ``ImageSizeConstraint/pixelsWideRange`` and a height within
    /// ``ImageSizeConstraint/pixelsHighRange``.
    case range
  }

  /// The size of an image.
  public struct Size: Hashable, Sendable {
    /// The width, in pixels.
    public let pixelsWide: Int
    /// The height, in pixels.
    public let pixelsHigh: Int

    /// Creates a size in pixels.
    public init(pixelsWide: Int, pixelsHigh: Int) {
      self.pixelsWide = pixelsWide
      self.pixelsHigh = pixelsHigh
    }
  }

  /// The kind of the constraint.
  public let type: Kind
  /// The allowed widths, in pixels. The upper bound is `Int.max` if the width is unbounded.
  public let pixelsWideRange: ClosedRange<Int>
  /// The allowed heights, in pixels. The upper bound is `Int.max` if the height is unbounded.
  public let pixelsHighRange: ClosedRange<Int>
  /// The allowed sizes if they are enumerated; empty for ranges.
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
