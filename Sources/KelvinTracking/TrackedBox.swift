/// A detected box of one frame, as the tracker reads it.
///
/// The unit is the caller's, for example pixels of the upright image. It must be the same for both axes and for all
/// frames of a stream.
package struct TrackedBox: Sendable, Hashable {
  /// The left edge.
  package var x: Double
  /// The upper edge.
  package var y: Double
  package var width: Double
  package var height: Double
  /// The detector's confidence, 0…1. The tracker limits it to this range.
  package var score: Double
  /// The index of the class; −1 if it is not known.
  package var label: Int

  package init(x: Double, y: Double, width: Double, height: Double, score: Double = 1, label: Int = -1) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
    self.score = score
    self.label = label
  }

  /// The largest coordinate and side of a box that the tracker uses. Squares and cubes of it are finite.
  package static let largestCoordinate = 1e9
  /// The smallest side of a box that the tracker uses.
  package static let smallestSide = 1e-9

  /// Whether the tracker uses the box: its coordinates and sides are numbers within the limits, and the score is a
  /// number.
  package var isUsable: Bool {
    let positions = -Self.largestCoordinate...Self.largestCoordinate
    let sides = Self.smallestSide...Self.largestCoordinate
    return positions.contains(x) && positions.contains(y) && sides.contains(width) && sides.contains(height)
      && !score.isNaN
  }

  /// Returns the intersection over union of two boxes with positive sides, 0…1.
  package func overlap(with other: TrackedBox) -> Double {
    let across = min(x + width, other.x + other.width) - max(x, other.x)
    let down = min(y + height, other.y + other.height) - max(y, other.y)
    guard across > 0, down > 0 else { return 0 }
    let shared = across * down
    return shared / (width * height + other.width * other.height - shared)
  }

  /// Whether two boxes can show the same object: their classes are equal, or one of them is not known.
  package func agrees(with other: TrackedBox) -> Bool { label == other.label || label < 0 || other.label < 0 }

  /// Orders boxes by score, the highest first, then by position, so that the order of a frame's boxes has no effect.
  package static func precedes(_ first: TrackedBox, _ second: TrackedBox) -> Bool {
    (second.score, first.x, first.y, first.width, first.height, first.label)
      < (first.score, second.x, second.y, second.width, second.height, second.label)
  }
}
