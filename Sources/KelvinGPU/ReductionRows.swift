internal import KelvinDevices
package import KelvinGraph

/// The lines of a tensor along an axis, or along several that are neighbours: the middle one of `[outer, length, inner]`,
/// or, where that is cut into blocks of `lanes` neighbours, of `[outer, ceil(length / lanes), inner, lanes]`.
package struct ReductionRows: Hashable, Sendable {
  package let outer: Int
  package let length: Int
  package let inner: Int
  /// A power of two.
  package let lanes: Int

  /// Of a dense tensor.
  package init(_ shape: Shape, axis: Int) {
    self.init(shape, axes: axis..<axis + 1)
  }

  /// The same along several neighbouring axes.
  package init(_ shape: Shape, axes: Range<Int>) {
    self.init(
      outer: shape.dimensions[..<axes.lowerBound].reduce(1, *), length: shape.dimensions[axes].reduce(1, *),
      inner: shape.dimensions[axes.upperBound...].reduce(1, *))
  }

  /// Of a tensor `[N, C, …]` in blocks of channels. Along other axes than that of channels, the lanes that hold none are
  /// lines too.
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
  /// The exponent of `lanes`, by which kernels find an element.
  package var laneBits: Int { lanes.trailingZeroBitCount }
}
