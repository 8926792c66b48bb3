/// A convolution of 3 × 3 taps by Winograd's minimal filtering: tiles of `side` × `side` outputs come of products at
/// `points` points of transformed tiles of inputs with transformed weights.
package struct WinogradPlan: Sendable {
  /// The key of offers that are carried out so.
  package static let way = "winograd"

  package let window: SpatialWindow
  package let images: Int
  /// Outputs along each axis of a tile: 2 or 4.
  package let side: Int

  /// Nil where the window is another than 3 × 3 taps side by side.
  package init?(_ window: SpatialWindow, images: Int, side: Int) {
    guard window.kernel == [3, 3], window.strides == [1, 1], window.dilations == [1, 1] else { return nil }
    self.window = window
    self.images = images
    self.side = side
  }

  /// Channels below which the transforms of large tiles lose more than twice what sums of so few products do.
  private static let fewestForLargeTiles = 32

  /// The tiles that are sooner done than something that costs `direct`, and by how much; nil where there are none.
  ///
  /// - Parameters:
  ///   - inputs: channels whose products are added up.
  ///   - sides: of the tiles that there are.
  ///   - cost: of a plan; nil where it cannot be carried out.
  package static func best(
    _ window: SpatialWindow, images: Int, inputs: Int, sides: [Int], than direct: Double,
    cost: (WinogradPlan) -> Double?
  ) -> (plan: WinogradPlan, saving: Double)? {
    let exact = inputs < Self.fewestForLargeTiles ? sides.filter { $0 == 2 } : sides
    let plans = exact.compactMap { WinogradPlan(window, images: images, side: $0) }
    let savings = plans.compactMap { plan in cost(plan).map { (plan: plan, saving: direct - $0) } }
    return savings.filter { $0.saving > 0 }.max { $0.saving < $1.saving }
  }

  /// How many tiles are transformed at a time, so that those of each time are as many and take no more than `limit` bytes,
  /// `byteCount` each; one at least.
  package func slab(byteCount: Int, limit: Int) -> Int {
    let most = max(limit / max(byteCount, 1), 1)
    let slabs = (tiles + most - 1) / most
    return (tiles + slabs - 1) / max(slabs, 1)
  }

  package var points: Int { (side + 2) * (side + 2) }
  /// Of an image.
  package var rows: Int { (window.output[0] + side - 1) / side }
  package var columns: Int { (window.output[1] + side - 1) / side }
  /// Of all images.
  package var tiles: Int { images * rows * columns }

  /// The numbers at the points of a filter of 3 × 3 taps.
  package func transformed(_ taps: UnsafeBufferPointer<Float>.SubSequence) -> [Float] {
    let lines = (0..<3).map { row in evaluated((0..<3).map { Double(taps[taps.startIndex + 3 * row + $0]) }) }
    let columns = (0..<side + 2).map { column in evaluated(lines.map { $0[column] }) }
    return (0..<side + 2).flatMap { row in columns.map { Float($0[row]) } }
  }

  /// Three taps at the points of a line: the polynomial of the taps there, over the product of the point's distances from
  /// the others, but for infinity.
  private func evaluated(_ taps: [Double]) -> [Double] {
    let (near, far) = (0.5.squareRoot(), 2.0.squareRoot())
    let two: [(point: Double, scale: Double)] = [(0, -1), (1, 0.5), (-1, 0.5)]
    let four: [(point: Double, scale: Double)] = [
      (0, 1), (near, -1 / 1.5), (-near, -1 / 1.5), (far, 1 / 6.0), (-far, 1 / 6.0),
    ]
    let finite = (side == 2 ? two : four).map { line in
      (taps[0] + line.point * (taps[1] + line.point * taps[2])) * line.scale
    }
    return finite + [taps[2]]
  }
}
