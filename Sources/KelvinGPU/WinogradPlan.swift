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

  /// Brings filters of 3 × 3 taps to the points.
  package var filters: FilterTransform { FilterTransform(side: side) }

  /// Three taps at the points of a line are the polynomial of the taps there, over the product of the point's distances from
  /// the others, but for infinity, which is last.
  package struct FilterTransform: Sendable {
    private let side: Int
    private let points, scales: SIMD8<Double>

    fileprivate init(side: Int) {
      self.side = side
      let (near, far) = (0.5.squareRoot(), 2.0.squareRoot())
      (points, scales) =
        side == 2
        ? ([0, 1, -1, 0, 0, 0, 0, 0], [-1, 0.5, 0.5, 0, 0, 0, 0, 0])
        : ([0, near, -near, far, -far, 0, 0, 0], [1, -1 / 1.5, -1 / 1.5, 1 / 6.0, 1 / 6.0, 0, 0, 0])
    }

    /// Writes the numbers of a filter at its points, row after row of them, `step` numbers apart. Models have a filter for
    /// each pair of channels: nothing is allocated for one.
    package func apply(_ taps: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, step: Int) {
      let lines = (line(taps), line(taps + 3), line(taps + 6))
      for row in 0...side + 1 {
        let atPoints =
          row <= side ? (lines.0 + points[row] * (lines.1 + points[row] * lines.2)) * scales[row] : lines.2
        for column in 0...side + 1 { target[(row * (side + 2) + column) * step] = Float(atPoints[column]) }
      }
    }

    private func line(_ taps: UnsafePointer<Float>) -> SIMD8<Double> {
      let (first, second, third) = (Double(taps[0]), Double(taps[1]), Double(taps[2]))
      var line = (first + points * (second + points * third)) * scales
      line[side + 1] = third
      return line
    }
  }
}
