/// A tile of Winograd's minimal filtering of 3 × 3 taps. Its outputs come from products at points of transformed inputs
/// and transformed weights.
package struct WinogradTile: Hashable, Sendable {
  /// The key of offers with this tile.
  package let implementation: String
  /// Outputs along each axis.
  package let side: Int
  /// The points along each axis except the last, infinity, and the scale of three taps at each point: the reciprocal
  /// of the product of its distances from the others.
  private let places, scales: SIMD8<Double>

  /// 16 products for 4 outputs.
  package static let small = WinogradTile(
    implementation: "winograd", side: 2, places: [0, 1, -1, 0, 0, 0, 0, 0], scales: [-1, 0.5, 0.5, 0, 0, 0, 0, 0])
  /// 36 products for 16 outputs. They lose more digits of small numbers beside large ones than the operator's tolerance
  /// allows, except at low precision.
  package static let large = WinogradTile(
    implementation: "winograd-4", side: 4, places: [0, near, -near, 2 * near, -2 * near, 0, 0, 0],
    scales: [1, -2 / 3, -2 / 3, 1 / 6, 1 / 6, 0, 0, 0])
  private static let near = 0.5.squareRoot()

  private var line: Int { side + 2 }
  package var points: Int { line * line }

  /// Writes the numbers of a filter of 3 × 3 taps at the points, row by row, `step` numbers apart. Models have a filter
  /// for each pair of channels, so the function allocates nothing.
  package func transform(_ taps: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, step: Int) {
    let lines = (atPoints(taps), atPoints(taps + 3), atPoints(taps + 6))
    for row in 0..<line {
      let here =
        row < line - 1 ? (lines.0 + places[row] * (lines.1 + places[row] * lines.2)) * scales[row] : lines.2
      for column in 0..<line { target[(row * line + column) * step] = Float(here[column]) }
    }
  }

  /// Returns the value at each point of the polynomial with three taps as coefficients. The value at infinity is the
  /// last tap.
  private func atPoints(_ taps: UnsafePointer<Float>) -> SIMD8<Double> {
    let (first, second, third) = (Double(taps[0]), Double(taps[1]), Double(taps[2]))
    var values = (first + places * (second + places * third)) * scales
    values[line - 1] = third
    return values
  }
}

/// A convolution of 3 × 3 taps by Winograd's minimal filtering.
package struct WinogradPlan: Sendable {
  package let window: SpatialWindow
  package let images: Int
  package let tile: WinogradTile

  /// Returns nil unless the window has 3 × 3 adjacent taps and stride 1.
  package init?(_ window: SpatialWindow, images: Int, _ tile: WinogradTile) {
    guard window.kernel == [3, 3], window.strides == [1, 1], window.dilations == [1, 1] else { return nil }
    self.window = window
    self.images = images
    self.tile = tile
  }

  /// Returns the number of tiles that are transformed at a time, at least one. The slabs are of equal size and take at
  /// most `limit` bytes, at `byteCount` bytes a tile.
  package func slab(byteCount: Int, limit: Int) -> Int {
    let most = max(limit / max(byteCount, 1), 1)
    let slabs = (tiles + most - 1) / most
    return (tiles + slabs - 1) / max(slabs, 1)
  }

  /// Rows of tiles of an image.
  package var rows: Int { (window.output[0] + tile.side - 1) / tile.side }
  package var columns: Int { (window.output[1] + tile.side - 1) / tile.side }
  /// Tiles of all images.
  package var tiles: Int { images * rows * columns }
}
