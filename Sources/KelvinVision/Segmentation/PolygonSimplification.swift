extension SegmentationPolygon {
  /// Returns the polygon with fewer corners. No omitted corner is farther than `tolerance` pixels from the new outline
  /// (algorithm of Douglas and Peucker, starting from a ring's first corner and the corner farthest from it).
  ///
  /// The tolerance is halved as long as a ring would lose its area, or as rings would cross or no longer be nested as
  /// before.
  func simplified(_ tolerance: Double) -> SegmentationPolygon {
    var tolerance = tolerance
    // At a smaller tolerance only collinear corners are omitted, because coordinates are integers.
    while tolerance >= 1e-3 {
      let candidate = SegmentationPolygon(
        exterior: Self.simplified(exterior, tolerance), holes: holes.map { Self.simplified($0, tolerance) })
      if RingArrangement.isValid(candidate) { return candidate }
      tolerance /= 2
    }
    return self
  }

  private static func simplified(_ ring: [PixelPoint], _ tolerance: Double) -> [PixelPoint] {
    var tolerance = tolerance
    let isHole = ring.doubledArea < 0
    while tolerance >= 1e-3 {
      let candidate = reduced(ring, tolerance)
      let area = candidate.doubledArea
      if area != 0, (area < 0) == isHole { return candidate }
      tolerance /= 2
    }
    return ring
  }

  private static func reduced(_ ring: [PixelPoint], _ tolerance: Double) -> [PixelPoint] {
    guard ring.count > 4 else { return ring }
    let far = ring.indices.max { ring[0].squaredDistance(to: ring[$0]) < ring[0].squaredDistance(to: ring[$1]) } ?? 0
    var isKept = [Bool](repeating: false, count: ring.count)
    isKept[0] = true
    isKept[far] = true
    // Index `ring.count` stands for the first corner.
    var pieces = [(0, far), (far, ring.count)]
    while let (first, last) = pieces.popLast() {
      let (start, end) = (ring[first], ring[last % ring.count])
      var (worst, farthest) = (tolerance * tolerance, -1)
      for index in first + 1..<max(last, first + 1) {
        let distance = ring[index].squaredDistance(toSegmentFrom: start, to: end)
        if distance > worst { (worst, farthest) = (distance, index) }
      }
      guard farthest >= 0 else { continue }
      isKept[farthest] = true
      pieces.append((first, farthest))
      pieces.append((farthest, last))
    }
    return ring.indices.filter { isKept[$0] }.map { ring[$0] }
  }
}

extension PixelPoint {
  fileprivate func squaredDistance(to other: PixelPoint) -> Int {
    (x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)
  }

  fileprivate func squaredDistance(toSegmentFrom start: PixelPoint, to end: PixelPoint) -> Double {
    let (dx, dy) = (Double(end.x - start.x), Double(end.y - start.y))
    let (px, py) = (Double(x - start.x), Double(y - start.y))
    let length = dx * dx + dy * dy
    let along = length > 0 ? min(max((px * dx + py * dy) / length, 0), 1) : 0
    return (px - along * dx) * (px - along * dx) + (py - along * dy) * (py - along * dy)
  }
}
