/// A convolution of 3 × 3 taps by Winograd's minimal filtering: tiles of 2 × 2 outputs come of products at 16 points of
/// transformed tiles of inputs with transformed weights. Tiles of 4 × 4 need fewer products still, but cost a small number
/// beside larger ones more digits than the operator's tolerance has.
package struct WinogradPlan: Sendable {
  /// The key of offers that are carried out so.
  package static let implementation = "winograd"

  package let window: SpatialWindow
  package let images: Int
  /// Outputs along each axis of a tile.
  private static let side = 2
  /// Points along each axis of a tile: 0, 1, -1 and infinity.
  private static let line = 4
  package static let points = line * line

  /// Nil where the window is another than 3 × 3 taps side by side.
  package init?(_ window: SpatialWindow, images: Int) {
    guard window.kernel == [3, 3], window.strides == [1, 1], window.dilations == [1, 1] else { return nil }
    self.window = window
    self.images = images
  }

  /// How many tiles are transformed at a time, so that those of each time are as many and take no more than `limit` bytes,
  /// `byteCount` each; one at least.
  package func slab(byteCount: Int, limit: Int) -> Int {
    let most = max(limit / max(byteCount, 1), 1)
    let slabs = (tiles + most - 1) / most
    return (tiles + slabs - 1) / max(slabs, 1)
  }

  /// Of an image.
  package var rows: Int { (window.output[0] + Self.side - 1) / Self.side }
  package var columns: Int { (window.output[1] + Self.side - 1) / Self.side }
  /// Of all images.
  package var tiles: Int { images * rows * columns }

  /// Writes the numbers of a filter of 3 × 3 taps at the points, row after row of them, `step` numbers apart. Models have a
  /// filter for each pair of channels: nothing is allocated for one.
  package static func transform(_ taps: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, step: Int) {
    let lines = (atPoints(taps), atPoints(taps + 3), atPoints(taps + 6))
    for row in 0..<line {
      let here =
        row < line - 1 ? (lines.0 + places[row] * (lines.1 + places[row] * lines.2)) * scales[row] : lines.2
      for column in 0..<line { target[(row * line + column) * step] = Float(here[column]) }
    }
  }

  /// Where the points are, but for infinity, and over what three taps are divided there: the product of the point's
  /// distances from the others.
  private static let places: SIMD4<Double> = [0, 1, -1, 0]
  private static let scales: SIMD4<Double> = [-1, 0.5, 0.5, 0]

  /// Three taps at the points of a line are the polynomial of the taps there, and the last one at infinity.
  private static func atPoints(_ taps: UnsafePointer<Float>) -> SIMD4<Double> {
    let (first, second, third) = (Double(taps[0]), Double(taps[1]), Double(taps[2]))
    var line = (first + places * (second + places * third)) * scales
    line[3] = third
    return line
  }
}
