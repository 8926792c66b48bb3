import Kelvin

/// A search for positions of labels on a canvas with as little overlap as possible.
struct TagPlacement {
  private let width: Int
  private let height: Int
  private var taken: [PixelRect] = []

  init(_ canvas: Canvas) { (width, height) = (canvas.width, canvas.height) }

  /// Reserves an area, which later labels avoid where possible.
  mutating func spare(_ rect: PixelRect) { taken.append(rect) }

  /// Returns the first candidate position, moved into the canvas, with the least overlap.
  mutating func place(_ size: (width: Int, height: Int), at corners: [(x: Int, y: Int)]) -> (x: Int, y: Int) {
    let rects = corners.map { corner in
      PixelRect(
        x: max(min(corner.x, width - size.width), 0), y: max(min(corner.y, height - size.height), 0),
        width: size.width, height: size.height)
    }
    func hidden(_ rect: PixelRect) -> Int { taken.reduce(0) { $0 + rect.area(sharedWith: $1) } }
    guard let rect = rects.min(by: { hidden($0) < hidden($1) }) else { return (0, 0) }
    taken.append(rect)
    return (rect.x, rect.y)
  }

  /// Returns a position at a corner of a rectangle: above, inside or below it.
  mutating func place(_ size: (width: Int, height: Int), around rect: PixelRect) -> (x: Int, y: Int) {
    let (right, bottom) = (rect.x + rect.width - size.width, rect.y + rect.height)
    return place(
      size,
      at: [
        (rect.x, rect.y - size.height), (rect.x, rect.y), (rect.x, bottom - size.height), (rect.x, bottom),
        (right, rect.y - size.height), (right, bottom),
      ])
  }
}
