import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addNonMaximumSuppression() {
    add(NonMaximumSuppression.self) { op, inputs in
      let (images, candidates, classes) = (inputs.shape(1)[0], inputs.shape(1)[1], inputs.shape(1)[2])
      let (boxes, scores) = (inputs.values[0], inputs.values[1])
      let (overlap, lowest) = (inputs.values[2][0], inputs.values[3][0])
      var results = inputs.outputs.map { [Double](repeating: 0, count: $0.count) }
      results[2] = results[2].map { _ in -1 }
      for image in 0..<images {
        let found = (0..<candidates).map { index in
          Candidate(
            index: index, box: Array(boxes[(image * candidates + index) * 4..<(image * candidates + index + 1) * 4]),
            scores: Array(scores[(image * candidates + index) * classes..<(image * candidates + index + 1) * classes]))
        }.filter { $0.score >= lowest }
        var picked: [Candidate] = []
        for candidate in found.sorted(by: { ($1.score, $0.index) < ($0.score, $1.index) })
        where picked.count < op.maximumBoxes {
          let isSuppressed = picked.contains {
            (!op.isPerClass || $0.label == candidate.label) && $0.overlaps(candidate, more: overlap)
          }
          if !isSuppressed { picked.append(candidate) }
        }
        for (index, candidate) in picked.enumerated() {
          let row = image * op.maximumBoxes + index
          results[0].replaceSubrange(row * 4..<row * 4 + 4, with: candidate.box)
          results[1].replaceSubrange(row * classes..<(row + 1) * classes, with: candidate.scores)
          results[2][row] = Double(candidate.index)
        }
        results[3][image] = Double(picked.count)
      }
      return results
    }
  }
}

private struct Candidate {
  let index: Int
  let box: [Double]
  let scores: [Double]
  let score: Double
  let label: Int

  init(index: Int, box: [Double], scores: [Double]) {
    self.index = index
    self.box = box
    self.scores = scores
    score = scores.filter { !$0.isNaN }.max() ?? .nan
    label = scores.firstIndex(of: score) ?? 0
  }

  func overlaps(_ other: Candidate, more threshold: Double) -> Bool {
    guard !(box + other.box).contains(where: \.isNaN) else { return false }
    let sides = [0, 1].map { axis in
      let end = min(box[axis] + box[axis + 2] / 2, other.box[axis] + other.box[axis + 2] / 2)
      return max(0, end - max(box[axis] - box[axis + 2] / 2, other.box[axis] - other.box[axis + 2] / 2))
    }
    let shared = sides[0] * sides[1]
    return shared > 0 && shared > threshold * (box[2] * box[3] + other.box[2] * other.box[3] - shared)
  }
}
