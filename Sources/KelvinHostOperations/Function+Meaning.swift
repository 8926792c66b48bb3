package import KelvinGraph

/// What a classifier's features are, as its host steps say.
package struct Classification: Sendable, Hashable {
  package var labels: Labels
  /// The slot with one score for each label.
  package var scores: String
  /// The output with the most probable label, where there is one.
  package var labelOutput: String?
  /// The output with the dictionary of label probabilities, where there is one.
  package var probabilitiesOutput: String?
  /// What precision and recall each label has, in their order; empty where the model does not say.
  package var curves: [PrecisionRecallCurve] = []

  /// The curves by what observations call their labels; the first of labels that are alike.
  package var curvesByLabel: [String: PrecisionRecallCurve] {
    Dictionary(zip(labels.strings, curves).map { ($0, $1) }) { first, _ in first }
  }
}

extension Function {
  /// How the function classifies; nil where it does not.
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

  /// How the function's boxes come out; nil where it detects nothing.
  package var detection: KeptBoxes? {
    hostOperations.lazy.compactMap { $0 as? KeptBoxes }.last
  }

  /// The same function with other labels for its classes, as many as it has.
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
