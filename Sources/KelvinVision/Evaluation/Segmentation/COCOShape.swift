#if Collections
/// The part of an image that an annotation is of, as COCO's documents write it: polygons, or run lengths down the columns.
enum COCOShape: Decodable, Hashable, Sendable {
  /// Rings of x and y by turns, in pixels.
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

  /// Gives the pixels inside a class. A pixel is inside polygons whose sides its centre has an odd number of to its left.
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
        // Between the corners, so that it is a number however far apart they lie.
        let share = (middle - a.y) / (b.y - a.y)
        crossings.append(a.x * (1 - share) + b.x * share)
      }
      crossings.sort()
      for pair in stride(from: 0, to: crossings.count - 1, by: 2) {
        // The first pixel whose centre is right of the side.
        let first = Int(min(max((crossings[pair] - 0.5).rounded(.up), 0), Double(width)))
        let end = Int(min(max((crossings[pair + 1] - 0.5).rounded(.up), 0), Double(width)))
        for x in first..<max(end, first) { map[y * width + x] = label }
      }
    }
  }
}
#endif
