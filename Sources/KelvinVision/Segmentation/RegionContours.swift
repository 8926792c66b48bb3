/// The outlines of the connected regions of a label map, along the edges of pixels.
///
/// Pixels of one class that share a side belong to one region. If two pixels of a region touch only at a corner, the
/// contour connects them there. So no ring touches itself, and a region has one outer ring. Its other rings are holes,
/// which may touch each other at corners.
struct RegionContours {
  /// A ring of a region, given by its corners. The first corner is not repeated at the end.
  struct Ring {
    var region: Int32
    var points: [PixelPoint]
  }

  private let map: LabelMap
  /// The region index of each pixel; -1 for classes that are not outlined.
  private let regions: [Int32]

  /// - Parameter isWanted: For each of the 256 class indices, whether its regions are outlined.
  init(_ map: LabelMap, isWanted: [Bool]) {
    self.map = map
    regions = RegionLabels.find(in: map, isWanted: isWanted)
  }

  /// Returns the polygons of each outlined class, in raster order of their first pixels.
  func polygons() -> [UInt8: [SegmentationPolygon]] {
    var places: [Int32: (label: UInt8, place: Int)] = [:]
    var polygons: [UInt8: [SegmentationPolygon]] = [:]
    for (ring, label) in rings() {
      if let known = places[ring.region] {
        polygons[known.label]?[known.place].holes.append(ring.points)
      } else {
        places[ring.region] = (label, polygons[label]?.count ?? 0)
        polygons[label, default: []].append(SegmentationPolygon(exterior: ring.points, holes: []))
      }
    }
    return polygons
  }

  /// Returns every ring once. The outer ring of a region comes first, because it contains the upper edge of the
  /// region's first pixel.
  private func rings() -> [(Ring, UInt8)] {
    var rings: [(Ring, UInt8)] = []
    var isDone = [Bool](repeating: false, count: regions.count)
    for y in 0..<map.height {
      for x in 0..<map.width {
        let pixel = y * map.width + x
        let region = regions[pixel]
        guard region >= 0, !isDone[pixel], y == 0 || regions[pixel - map.width] != region else { continue }
        rings.append((Ring(region: region, points: trace(x, y, region, &isDone)), map.classes[pixel]))
      }
    }
    return rings
  }

  private func isInside(_ x: Int, _ y: Int, _ region: Int32) -> Bool {
    x >= 0 && y >= 0 && x < map.width && y < map.height && regions[y * map.width + x] == region
  }

  /// Follows a contour from the upper left corner of a pixel that has an upper edge. The region is on the right-hand
  /// side.
  ///
  /// - Parameter isDone: Receives the pixels whose upper edges belong to the contour. Each upper edge belongs to
  ///   exactly one contour.
  private func trace(_ startX: Int, _ startY: Int, _ region: Int32, _ isDone: inout [Bool]) -> [PixelPoint] {
    var points: [PixelPoint] = []
    var (x, y) = (startX, startY)
    var (dx, dy) = (1, 0)
    repeat {
      if dx == 1 { isDone[y * map.width + x] = true }
      (x, y) = (x + dx, y + dy)
      let (left, right) = Self.ahead(x, y, dx, dy)
      if isInside(left.x, left.y, region) {
        points.append(PixelPoint(x: x, y: y))
        (dx, dy) = (dy, -dx)
      } else if !isInside(right.x, right.y, region) {
        points.append(PixelPoint(x: x, y: y))
        (dx, dy) = (-dy, dx)
      }
    } while x != startX || y != startY || dx != 1
    // The last corner found is the starting point.
    points.insert(points.removeLast(), at: 0)
    return points
  }

  /// Returns the pixels left and right of the next edge in the current direction.
  private static func ahead(
    _ x: Int, _ y: Int, _ dx: Int, _ dy: Int
  ) -> (left: PixelPoint, right: PixelPoint) {
    switch (dx, dy) {
    case (1, 0): (PixelPoint(x: x, y: y - 1), PixelPoint(x: x, y: y))
    case (-1, 0): (PixelPoint(x: x - 1, y: y), PixelPoint(x: x - 1, y: y - 1))
    case (0, 1): (PixelPoint(x: x, y: y), PixelPoint(x: x - 1, y: y))
    default: (PixelPoint(x: x - 1, y: y - 1), PixelPoint(x: x, y: y - 1))
    }
  }
}

/// Connected-component labelling: pixels of one class are connected by their sides.
private enum RegionLabels {
  /// Returns a region index for each pixel; -1 for classes that are not wanted. A pixel takes the index of its left or
  /// upper neighbour. Indices that meet are merged (union-find with path halving, the smaller index becomes
  /// the root).
  static func find(in map: LabelMap, isWanted: [Bool]) -> [Int32] {
    var regions = [Int32](repeating: -1, count: map.classes.count)
    var parents: [Int32] = []
    func root(_ start: Int32) -> Int32 {
      var node = start
      while parents[Int(node)] != node {
        parents[Int(node)] = parents[Int(parents[Int(node)])]
        node = parents[Int(node)]
      }
      return node
    }
    for y in 0..<map.height {
      for x in 0..<map.width {
        let pixel = y * map.width + x
        let label = map.classes[pixel]
        guard isWanted[Int(label)] else { continue }
        let left = x > 0 && map.classes[pixel - 1] == label ? regions[pixel - 1] : -1
        let above = y > 0 && map.classes[pixel - map.width] == label ? regions[pixel - map.width] : -1
        if left < 0, above < 0 {
          regions[pixel] = Int32(parents.count)
          parents.append(Int32(parents.count))
        } else if left < 0 || above < 0 || left == above {
          regions[pixel] = max(left, above)
        } else {
          let (a, b) = (root(left), root(above))
          parents[Int(max(a, b))] = min(a, b)
          regions[pixel] = min(a, b)
        }
      }
    }
    for pixel in regions.indices where regions[pixel] >= 0 { regions[pixel] = root(regions[pixel]) }
    return regions
  }
}
