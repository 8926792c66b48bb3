/// A check whether rings form a valid polygon: rings meet at corners only, and holes are inside the exterior and
/// outside each other.
enum RingArrangement {
  private struct Edge {
    var start: PixelPoint
    var end: PixelPoint
    var columns: ClosedRange<Int> { min(start.x, end.x)...max(start.x, end.x) }
    var rows: ClosedRange<Int> { min(start.y, end.y)...max(start.y, end.y) }
  }

  static func isValid(_ polygon: SegmentationPolygon) -> Bool {
    let rings = [polygon.exterior] + polygon.holes
    guard rings.allSatisfy({ Set($0).count == $0.count }), !anyMeet(rings.flatMap(edges)) else { return false }
    return polygon.holes.indices.allSatisfy { index in
      contains(polygon.exterior, polygon.holes[index])
        && !polygon.holes.indices.contains { $0 != index && contains(polygon.holes[$0], polygon.holes[index]) }
    }
  }

  private static func edges(of ring: [PixelPoint]) -> [Edge] {
    ring.indices.map { Edge(start: ring[$0], end: ring[($0 + 1) % ring.count]) }
  }

  /// Whether two edges cross, overlap, or one ends inside the other. Implemented as a sweep from the left.
  private static func anyMeet(_ edges: [Edge]) -> Bool {
    var open: [Edge] = []
    for edge in edges.sorted(by: { $0.columns.lowerBound < $1.columns.lowerBound }) {
      open.removeAll { $0.columns.upperBound < edge.columns.lowerBound }
      if open.contains(where: { meet($0, edge) }) { return true }
      open.append(edge)
    }
    return false
  }

  private static func meet(_ a: Edge, _ b: Edge) -> Bool {
    guard a.rows.overlaps(b.rows) else { return false }
    let (aStart, aEnd) = (side(b.start, b.end, a.start), side(b.start, b.end, a.end))
    let (bStart, bEnd) = (side(a.start, a.end, b.start), side(a.start, a.end, b.end))
    if aStart * aEnd < 0, bStart * bEnd < 0 { return true }
    return aStart == 0 && isWithin(a.start, b) || aEnd == 0 && isWithin(a.end, b)
      || bStart == 0 && isWithin(b.start, a) || bEnd == 0 && isWithin(b.end, a)
      || a.start == b.start && a.end == b.end || a.start == b.end && a.end == b.start
  }

  private static func side(_ a: PixelPoint, _ b: PixelPoint, _ c: PixelPoint) -> Int {
    ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)).signum()
  }

  /// Whether a point on an edge's line is strictly between the edge's ends.
  private static func isWithin(_ point: PixelPoint, _ edge: Edge) -> Bool {
    point != edge.start && point != edge.end && edge.columns.contains(point.x) && edge.rows.contains(point.y)
  }

  /// Whether a ring contains another ring that meets it at corners at most. Tests the middle of one edge of the other
  /// ring by ray casting.
  private static func contains(_ ring: [PixelPoint], _ other: [PixelPoint]) -> Bool {
    let (x, y) = (other[0].x + other[1].x, other[0].y + other[1].y)
    var isInside = false
    for edge in edges(of: ring) where (2 * edge.start.x > x) != (2 * edge.end.x > x) {
      let (left, right) = edge.start.x < edge.end.x ? (edge.start, edge.end) : (edge.end, edge.start)
      // Coordinates are doubled throughout, because the middle of an edge may have half-integer coordinates.
      let turn = 2 * (right.x - left.x) * (y - 2 * left.y) - 2 * (right.y - left.y) * (x - 2 * left.x)
      if turn > 0 { isInside.toggle() }
    }
    return isInside
  }
}
