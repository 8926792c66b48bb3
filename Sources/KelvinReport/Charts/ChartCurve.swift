/// Lines over a time axis of 1,000 units.
enum ChartCurve {
  /// How long the dash of a lone place is.
  private static let dash = 8.0

  /// The `points` of a polyline through these places. Places at one time become a dash: a line without length is not drawn,
  /// and a short run may have a single window or sample.
  static func through(_ places: [(x: Double, y: Double)]) -> [Markup] {
    guard let first = places.first, places.allSatisfy({ $0.x == first.x }) else {
      return places.map { " \($0.x),\($0.y)" }
    }
    let start = min(max(first.x - dash / 2, 0), 1000 - dash)
    return [" \(start),\(first.y)", " \(start + dash),\(first.y)"]
  }
}
