/// A convolution of 3 × 3 taps by Winograd's minimal filtering. Tiles of 2 × 2 outputs come from products at 16 points
/// of transformed input tiles and transformed weights. Tiles of 4 × 4 need fewer products, but lose more digits of
/// small numbers beside large ones than the operator's tolerance allows.
package struct WinogradPlan: Sendable {
  /// The key of offers with this implementation.
  package static let implementation = "winograd"

  package let window: SpatialWindow
  package let images: Int
  /// Outputs along each axis of a tile.
  private static let side = 2
  /// Points along each axis of a tile: 0, 1, -1 and infinity.
  private static let line = 4
  package static let points = line * line

  /// Returns nil unless the window has 3 × 3 adjacent taps and stride 1.
  package init?(_ window: SpatialWindow, images: Int) {
    guard window.kernel == [3, 3], window.strides == [1, 1], window.dilations == [1, 1] else { return nil }
    self.window = window
    self.images = images
  }

  /// Returns the number of tiles that are transformed at a time, at least one. The slabs are of equal size and take at
  /// most `limit` bytes, at `byteCount` bytes a tile.
  package func slab(byteCount: Int, limit: Int) -> Int {
    let most = max(limit / max(byteCount, 1), 1)
    let slabs = (tiles + most - 1) / most
    return (tiles + slabs - 1) / max(slabs, 1)
  }

  /// Rows of tiles of an image.
  package var rows: Int { (window.output[0] + Self.side - 1) / Self.side }
  package var columns: Int { (window.output[1] + Self.side - 1) / Self.side }
  /// Tiles of all images.
  package var tiles: Int { images * rows * columns }

  /// Writes the numbers of a filter of 3 × 3 taps at the points, row by row, `step` numbers apart. Models have a filter
  /// for each pair of channels, so the function allocates nothing.
  package static func transform(_ taps: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, step: Int) {
    let lines = (atPoints(taps), atPoints(taps + 3), atPoints(taps + 6))
    for row in 0..<line {
      let here =
        row < line - 1 ? (lines.0 + places[row] * (lines.1 + places[row] * lines.2)) * scales[row] : lines.2
      for column in 0..<line { target[(row * line + column) * step] = Float(here[column]) }
    }
  }

  /// The points except infinity, and the scale of three taps at each point: the reciprocal of the product of the
  /// point's distances from the others.
  private static let places: SIMD4<Double> = [0, 1, -1, 0]
  private static let scales: SIMD4<Double> = [-1, 0.5, 0.5, 0]

  /// Returns the value at each point of the polynomial with three taps as coefficients. The value at infinity is the
  /// last tap.
  private static func atPoints(_ taps: UnsafePointer<Float>) -> SIMD4<Double> {
    let (first, second, third) = (Double(taps[0]), Double(taps[1]), Double(taps[2]))
    var line = (first + places * (second + places * third)) * scales
    line[3] = third
    return line
  }
}
