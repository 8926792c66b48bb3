/// A candidate box with its confidence and class.
struct BoxCandidate {
  /// The box. The unit does not matter, but must be the same for all boxes that are compared.
  var box: CenteredBox
  var confidence: Float
  package var label: Int
}

/// A box given by its centre, width and height.
struct CenteredBox: Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// Whether the box is finite and has a positive area.
  var hasArea: Bool { width > 0 && height > 0 && [x, y, width, height].allSatisfy(\.isFinite) }

  fileprivate func overlaps(_ other: CenteredBox, more threshold: Double) -> Bool {
    let wide = min(x + width / 2, other.x + other.width / 2) - max(x - width / 2, other.x - other.width / 2)
    guard wide > 0 else { return false }
    let high = min(y + height / 2, other.y + other.height / 2) - max(y - height / 2, other.y - other.height / 2)
    guard high > 0 else { return false }
    let shared = wide * high
    return shared > threshold * (width * height + other.width * other.height - shared)
  }
}

/// Non-maximum suppression with the semantics of the operator `NonMaximumSuppression`. Boxes are processed in
/// descending order of confidence, and in index order where confidences are equal. A box is dropped if its intersection
/// over union with a box kept before exceeds `maximumOverlap`.
struct BoxSuppression {
  var maximumOverlap: Double
  /// Whether a box only suppresses boxes of its own class.
  var isPerClass: Bool
  var maximumCount: Int

  /// Returns the indices of the kept candidates, the most confident first.
  func kept(_ candidates: [BoxCandidate]) -> [Int] {
    let order = candidates.indices.sorted {
      (candidates[$1].confidence, $0) < (candidates[$0].confidence, $1)
    }
    guard maximumOverlap < 1 else { return Array(order.prefix(maximumCount)) }
    var picked: [Int] = []
    var rivals: [Int: [CenteredBox]] = [:]
    for index in order {
      guard picked.count < maximumCount else { break }
      let candidate = candidates[index]
      let group = isPerClass ? candidate.label : 0
      let isSuppressed = rivals[group]?.contains { $0.overlaps(candidate.box, more: maximumOverlap) } ?? false
      guard !isSuppressed else { continue }
      rivals[group, default: []].append(candidate.box)
      picked.append(index)
    }
    return picked
  }
}
