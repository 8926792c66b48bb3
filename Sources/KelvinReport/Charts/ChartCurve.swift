/// Polylines over a time axis of 1,000 units.
enum ChartCurve {
  /// The length of the dash that represents a single point.
  private static let dash = 8.0

  /// Returns the `points` of a polyline. Points that all have the same time become a horizontal dash, because a line
  /// without length would not be drawn.
  static func through(_ places: [(x: Double, y: Double)]) -> [Markup] {
    guard let first = places.first, places.allSatisfy({ $0.x == first.x }) else {
      return places.map { " \($0.x),\($0.y)" }
    }
    let start = min(max(first.x - dash / 2, 0), 1000 - dash)
    return [" \(start),\(first.y)", " \(start + dash),\(first.y)"]
  }
}
