/// A box in the model's input, and how sure the model is of it.
struct BoxCandidate {
  /// Centre and sides, in any unit that boxes compared with each other share.
  var box: CenteredBox
  var confidence: Float
  var label: Int
}

/// A box by its centre and its sides.
struct CenteredBox: Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// Whether it is finite and has an area.
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

/// Non-maximum suppression by the rule of the operator of that name (`NonMaximumSuppression`): boxes in descending order
/// of confidence, of equal ones the earlier first, leaving out those that share more than a part of the area that they
/// and one already picked cover together.
struct BoxSuppression {
  var maximumOverlap: Double
  /// Whether a box only suppresses boxes of its own class.
  var isPerClass: Bool
  var maximumCount: Int

  /// The candidates that are kept, by their places, the surest first.
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
