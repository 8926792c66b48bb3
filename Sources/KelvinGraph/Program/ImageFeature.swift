/// The conversion between an image and a tensor.
package struct ImageFeature: Sendable, Hashable {
  package enum ColorLayout: String, Sendable, Hashable {
    case rgb, bgr, grayscale
    /// One channel of float16, whose numbers are not converted.
    case grayscaleFloat16 = "grayscale_float16"

    package var isGray: Bool { self == .grayscale || self == .grayscaleFloat16 }

    package var channelCount: Int { isGray ? 1 : 3 }

    /// Whether a tensor holds one image: its last axes are channels, rows and columns, and the others have size 1.
    package func isImage(_ shape: Shape) -> Bool {
      shape.rank >= 3 && shape[shape.rank - 3] == channelCount && shape.dimensions.dropLast(3).allSatisfy { $0 == 1 }
    }
  }

  /// An image's size in pixels.
  package struct Size: Sendable, Hashable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// The sizes that an image may have besides the default one.
  package enum Sizes: Sendable, Hashable {
    case fixed
    /// One of a list of sizes, which includes the default size.
    case enumerated([Size])
    case ranged(widths: ClosedRange<Int>, heights: ClosedRange<Int>)
  }

  /// The default size in pixels.
  package var width: Int
  package var height: Int
  package var sizes: Sizes
  package var layout: ColorLayout
  /// Whether the tensor's axes are row, column and channel, instead of channel, row and column.
  package var isInterleaved = false
  /// The type of the tensor that enters the graph.
  package var scalar: ScalarType
  /// The conversion of a pixel `p` in 0…255 for the graph: `scale · p + bias` for each channel of the layout.
  package var scale: [Float]
  package var bias: [Float]

  package init(
    width: Int, height: Int, sizes: Sizes = .fixed, layout: ColorLayout, scalar: ScalarType = .float32,
    scale: [Float]? = nil, bias: [Float]? = nil
  ) {
    self.width = width
    self.height = height
    self.sizes = sizes
    self.layout = layout
    self.scalar = scalar
    self.scale = scale ?? [Float](repeating: 1, count: layout.channelCount)
    self.bias = bias ?? [Float](repeating: 0, count: layout.channelCount)
  }

  package var channels: Int { layout.channelCount }
  /// The shape of the tensor for an image of the default size.
  package var tensorShape: Shape { tensorShape(Size(width: width, height: height)) }
  package var isFlexible: Bool { sizes != .fixed }

  package func tensorShape(_ size: Size) -> Shape {
    isInterleaved ? [1, size.height, size.width, channels] : [1, channels, size.height, size.width]
  }

  package func accepts(_ size: Size) -> Bool {
    switch sizes {
    case .fixed: size.width == width && size.height == height
    case .enumerated(let sizes): sizes.contains(size)
    case .ranged(let widths, let heights): widths.contains(size.width) && heights.contains(size.height)
    }
  }

  /// Returns the allowed size that images of a given size are scaled to. Within ranges it is the nearest width and
  /// height. Of enumerated sizes it is the one with the nearest corner, the first of equally near ones.
  package func nearestSize(to size: Size) -> Size {
    switch sizes {
    case .fixed: return Size(width: width, height: height)
    case .ranged(let widths, let heights):
      return Size(
        width: min(max(size.width, widths.lowerBound), widths.upperBound),
        height: min(max(size.height, heights.lowerBound), heights.upperBound))
    case .enumerated(let sizes):
      func distance(_ other: Size) -> Double {
        let (x, y) = (Double(other.width) - Double(size.width), Double(other.height) - Double(size.height))
        return x * x + y * y
      }
      return sizes.min { distance($0) < distance($1) } ?? Size(width: width, height: height)
    }
  }

  /// Returns the allowed sizes below a size, the largest first, at most two: of enumerated sizes the next ones, of a
  /// range about three quarters and half of the width and height. These are multiples of 32, by which many networks
  /// divide the size of their maps.
  package func smallerSizes(than size: Size) -> [Size] {
    var found: [Size]
    switch sizes {
    case .fixed: return []
    case .enumerated(let sizes): found = sizes
    case .ranged(let widths, let heights):
      found = [0.75, 0.5].map { share in
        func scaled(_ side: Int, _ allowed: ClosedRange<Int>) -> Int {
          let wanted = Int(Double(side) * share)
          return min(max(wanted < 64 ? wanted : wanted / 32 * 32, allowed.lowerBound), side)
        }
        return Size(width: scaled(size.width, widths), height: scaled(size.height, heights))
      }
    }
    found = found.filter { $0 != size && $0.width <= size.width && $0.height <= size.height }
    let distinct = found.enumerated().filter { index, size in !found[..<index].contains(size) }.map(\.element)
    return Array(distinct.sorted { $0.width * $0.height > $1.width * $1.height }.prefix(2))
  }

  /// Returns the feature without the sizes that are wider or higher than one of its sizes.
  package func limited(to most: Size) -> ImageFeature {
    var limited = self
    switch sizes {
    case .fixed: return self
    case .enumerated(let sizes):
      limited.sizes = .enumerated(sizes.filter { $0.width <= most.width && $0.height <= most.height })
    case .ranged(let widths, let heights):
      limited.sizes = .ranged(
        widths: widths.lowerBound...min(widths.upperBound, most.width),
        heights: heights.lowerBound...min(heights.upperBound, most.height))
    }
    let usual = limited.nearestSize(to: Size(width: width, height: height))
    (limited.width, limited.height) = (usual.width, usual.height)
    return limited
  }
}
