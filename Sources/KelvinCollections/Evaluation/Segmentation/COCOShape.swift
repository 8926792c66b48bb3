import KelvinVision

/// The shape of an annotation in a COCO document: polygons, or run lengths in column-major order.
enum COCOShape: Decodable, Hashable, Sendable {
  /// Rings of alternating x and y coordinates in pixels.
  case polygons([[Double]])
  case runs(RunLengths)

  private enum Key: CodingKey { case size, counts }

  init(from decoder: any Decoder) throws {
    if let single = try? decoder.singleValueContainer(), let rings = try? single.decode([[Double]].self) {
      self = .polygons(rings)
      return
    }
    let container = try decoder.container(keyedBy: Key.self)
    let size = try container.decode([Int].self, forKey: .size)
    let counts: [Int]?
    if let text = try? container.decode(String.self, forKey: .counts) {
      counts = RunLengths.counts(compressed: text)
    } else {
      counts = try container.decode([Int].self, forKey: .counts)
    }
    guard size.count == 2, size.allSatisfy({ $0 > 0 }), let counts, counts.allSatisfy({ $0 >= 0 }) else {
      throw DecodingError.dataCorruptedError(forKey: .size, in: container, debugDescription: "no run lengths")
    }
    self = .runs(RunLengths(height: size[0], width: size[1], counts: counts))
  }

  /// Assigns a class to the pixels inside the shape. Polygons are filled by the even-odd rule, evaluated at pixel
  /// centres.
  func paint(_ label: UInt8, on map: inout [UInt8], width: Int, height: Int) {
    switch self {
    case .polygons(let rings):
      for ring in rings where ring.count >= 6 { Self.fill(ring, label, &map, width, height) }
    case .runs(let runs):
      guard runs.height == height, runs.width == width else { return }
      var at = 0
      for (index, count) in runs.counts.enumerated() {
        let end = min(at &+ count, width * height)
        if index & 1 == 1 { for place in at..<max(end, at) { map[place % height * width + place / height] = label } }
        at = max(end, at)
      }
    }
  }

  private static func fill(_ ring: [Double], _ label: UInt8, _ map: inout [UInt8], _ width: Int, _ height: Int) {
    let corners = stride(from: 0, to: ring.count - 1, by: 2).map { (x: ring[$0], y: ring[$0 + 1]) }
    guard corners.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return }
    let heights = corners.map { min(max($0.y, 0), Double(height)) }
    for y in Int(heights.min() ?? 0)..<max(Int((heights.max() ?? 0).rounded(.up)), Int(heights.min() ?? 0)) {
      let middle = Double(y) + 0.5
      var crossings: [Double] = []
      for index in corners.indices {
        let (a, b) = (corners[index], corners[(index + 1) % corners.count])
        guard (a.y <= middle) != (b.y <= middle) else { continue }
        // An interpolation, which stays finite however far apart the corners are.
        let share = (middle - a.y) / (b.y - a.y)
        crossings.append(a.x * (1 - share) + b.x * share)
      }
      crossings.sort()
      for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
        // The first pixel whose centre is right of the crossing.
        let first = Int(min(max((crossings[pair] - 0.5).rounded(.up), 0), Double(width)))
        let end = Int(min(max((crossings[pair + 1] - 0.5).rounded(.up), 0), Double(width)))
        for x in first..<max(end, first) { map[y * width + x] = label }
      }
    }
  }
}
