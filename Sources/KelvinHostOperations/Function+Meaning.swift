package import KelvinBasics
package import KelvinGraph

/// The meaning of a classifier's features, derived from its host operations.
package struct Classification: Sendable, Hashable {
  package var labels: Labels
  /// The slot that holds one score for each label.
  package var scores: String
  /// The output that holds the most probable label; nil if there is none.
  package var labelOutput: String?
  /// The output that holds the dictionary of label probabilities; nil if there is none.
  package var probabilitiesOutput: String?
  /// The precision and recall of each label, in the order of the labels; empty if the model does not provide them.
  package var curves: [PrecisionRecallCurve] = []

  /// The curves by the labels' strings; of equal labels, the first.
  package var curvesByLabel: [ExactString: PrecisionRecallCurve] {
    Dictionary(zip(labels.strings.exact, curves).map { ($0, $1) }) { first, _ in first }
  }
}

extension Function {
  /// The meaning of the features of a classifier; nil for other functions.
  package var classification: Classification? {
    let names = Set(outputs.map(\.name))
    var found: Classification?
    for step in hostOperations {
      switch step {
      case let step as TopLabel where names.contains(step.output):
        found = Classification(
          labels: step.labels, scores: step.scores, labelOutput: step.output,
          probabilitiesOutput: found?.scores == step.scores ? found?.probabilitiesOutput : nil)
      case let step as LabelDictionary where names.contains(step.output) && step.rows != .each:
        found = Classification(
          labels: step.labels, scores: step.scores,
          labelOutput: found?.scores == step.scores ? found?.labelOutput : nil, probabilitiesOutput: step.output)
      default: break
      }
    }
    for case let step as ClassCurves in hostOperations where step.curves.count == found?.labels.count {
      found?.curves = step.curves
    }
    return found
  }

  /// The outputs of a detector; nil for other functions.
  package var detection: KeptBoxes? {
    hostOperations.lazy.compactMap { $0 as? KeptBoxes }.last
  }

  /// Returns the function with other labels for its classes; their number must be the same.
  package func relabeled(_ labels: Labels) -> Function {
    guard let known = classification else { return self }
    var result = self
    if let overriding { result.overriding = { try overriding($0).relabeled(labels) } }
    if let runningOnHost { result.runningOnHost = { try runningOnHost($0).relabeled(labels) } }
    for (index, part) in parts.enumerated() {
      guard case .host(let step) = part, step.inputs == [known.scores] else { continue }
      switch step {
      case var step as TopLabel:
        step.labels = labels
        result.parts[index] = .host(step)
      case let step as LabelDictionary:
        result.parts[index] = .host(
          LabelDictionary(labels, scores: step.scores, output: step.output, rows: step.rows))
      default: break
      }
    }
    return result
  }
}
