/// The layout of a treemap: a rectangle is divided into tiles whose areas are proportional to weights, and whose sides
/// are as equal as the algorithm finds.
///
/// Reference: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000. The largest weights come first. Tiles are laid
/// in strips along the shorter side of the free rectangle. A tile joins a strip as long as the worst ratio of sides in
/// the strip does not grow.
package struct Treemap: Sendable {
  /// A rectangle in the units of the drawing.
  package struct Rectangle: Hashable, Sendable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double

    package init(x: Double, y: Double, width: Double, height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    package var area: Double { width * height }
  }

  private let weights: [Double]
  /// The positions of positive weights, in descending order of weight. Equal weights keep their order.
  private let order: [Int]
  /// By place in `order`, the sum of the weights from there on.
  private let sums: [Double]
  private var tiles: [Rectangle]
  private var free: Rectangle

  /// Divides a rectangle.
  ///
  /// - Parameters:
  ///   - weights: The weights. One that is not positive and finite gets a tile without area.
  ///   - rectangle: The rectangle, with sides of at least 0.
  /// - Returns: The tiles in the order of the weights. They cover the rectangle and do not overlap.
  package static func tiles(_ weights: [Double], in rectangle: Rectangle) -> [Rectangle] {
    var map = Treemap(weights, rectangle)
    map.divide()
    return map.tiles
  }

  private init(_ weights: [Double], _ rectangle: Rectangle) {
    self.weights = weights
    order = weights.indices.filter { weights[$0] > 0 && weights[$0].isFinite }.sorted {
      (-weights[$0], $0) < (-weights[$1], $1)
    }
    // Summed from the smallest, so that the sum of the last strip is that of its tiles.
    var sums: [Double] = [0]
    for place in order.reversed() { sums.append(sums[sums.count - 1] + weights[place]) }
    self.sums = sums.reversed()
    tiles = weights.map { _ in Rectangle(x: rectangle.x, y: rectangle.y, width: 0, height: 0) }
    free = rectangle
  }

  private mutating func divide() {
    var start = 0
    while start < order.count {
      let end = stripEnd(from: start)
      lay(start..<end)
      start = end
    }
  }

  /// Returns the end of the strip that begins at a place.
  private func stripEnd(from start: Int) -> Int {
    let side = min(free.width, free.height)
    let scale = free.area / sums[start]
    let largest = weights[order[start]] * scale
    var end = start + 1
    var worst = Self.worstRatio(side: side, sum: largest, largest: largest, smallest: largest)
    while end < order.count {
      let smallest = weights[order[end]] * scale
      let ratio = Self.worstRatio(
        side: side, sum: (sums[start] - sums[end + 1]) * scale, largest: largest, smallest: smallest)
      guard ratio <= worst else { break }
      worst = ratio
      end += 1
    }
    return end
  }

  /// The largest ratio of sides among the tiles of a strip along a side of the free rectangle, by their areas.
  private static func worstRatio(side: Double, sum: Double, largest: Double, smallest: Double) -> Double {
    let (side, sum) = (side * side, sum * sum)
    return max(side * largest / sum, sum / (side * smallest))
  }

  /// Lays the tiles of a strip along the shorter side of the free rectangle, and takes the strip from it.
  private mutating func lay(_ strip: Range<Int>) {
    let isUpright = free.width >= free.height
    let isLast = strip.upperBound == order.count
    let sum = sums[strip.lowerBound] - sums[strip.upperBound]
    let share = isLast ? 1 : sum / sums[strip.lowerBound]
    let thickness = (isUpright ? free.width : free.height) * share
    let length = isUpright ? free.height : free.width
    var begin = 0.0
    for place in strip {
      // Each tile begins where the one before ends, and the last ends with the rectangle.
      let isEnd = place + 1 == strip.upperBound
      let end = isEnd ? length : length * (sums[strip.lowerBound] - sums[place + 1]) / sum
      tiles[order[place]] =
        isUpright
        ? Rectangle(x: free.x, y: free.y + begin, width: thickness, height: end - begin)
        : Rectangle(x: free.x + begin, y: free.y, width: end - begin, height: thickness)
      begin = end
    }
    if isUpright {
      free = Rectangle(x: free.x + thickness, y: free.y, width: free.width - thickness, height: free.height)
    } else {
      free = Rectangle(x: free.x, y: free.y + thickness, width: free.width, height: free.height - thickness)
    }
  }
}
