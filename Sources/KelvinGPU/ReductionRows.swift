internal import KelvinDevices
package import KelvinGraph

/// The rows of a tensor along an axis, or along several neighbouring axes. The row axis is the middle one of `[outer,
/// length, inner]` or, in blocks of `lanes` neighbours, of `[outer, ceil(length / lanes), inner, lanes]`.
package struct ReductionRows: Hashable, Sendable {
  package let outer: Int
  package let length: Int
  package let inner: Int
  /// The number of lanes, a power of two.
  package let lanes: Int

  /// Creates the rows of a dense tensor along one axis.
  package init(_ shape: Shape, axis: Int) {
    self.init(shape, axes: axis..<axis + 1)
  }

  /// Creates the rows of a dense tensor along several neighbouring axes.
  package init(_ shape: Shape, axes: Range<Int>) {
    self.init(
      outer: shape.dimensions[..<axes.lowerBound].reduce(1, *), length: shape.dimensions[axes].reduce(1, *),
      inner: shape.dimensions[axes.upperBound...].reduce(1, *))
  }

  /// Creates the rows of a tensor `[N, C, …]` in blocks of channels. Along other axes than the channel axis, the lanes
  /// without a channel are rows too.
  package init(_ shape: Shape, axes: Range<Int>, inBlocksOf lanes: Int) {
    if axes == 1..<2 {
      self.init(outer: shape[0], length: shape[1], inner: shape.pixels, lanes: lanes)
    } else {
      let blocks = BlockedShape(shape, lanes: lanes).blocks
      self.init(Shape([shape[0], blocks] + shape.dimensions[2...] + [lanes]), axes: axes)
    }
  }

  package init(outer: Int, length: Int, inner: Int, lanes: Int = 1) {
    (self.outer, self.length, self.inner, self.lanes) = (outer, length, inner, lanes)
  }

  package var count: Int { outer * inner }
  /// The exponent of `lanes`, which kernels use to find an element.
  package var laneBits: Int { lanes.trailingZeroBitCount }
}
