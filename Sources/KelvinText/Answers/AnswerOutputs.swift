import Kelvin

/// The outputs of a model with the scores of answers' starts and ends.
struct AnswerOutputs: Sendable {
  private enum Form: Sendable {
    case apart(starts: String, ends: String)
    /// One output with two numbers for each token.
    case together(String)
  }

  private let form: Form

  /// - Throws: `ModelError` with code `parameters` for a model without them.
  init(_ description: ModelDescription) throws(ModelError) {
    let names = description.outputNames.filter { description.outputDescriptionsByName[$0]?.type == .multiArray }
    let starts = names.filter { $0.lowercased().contains("start") }
    let ends = names.filter { $0.lowercased().contains("end") }
    if starts.count == 1, ends.count == 1, starts != ends {
      form = .apart(starts: starts[0], ends: ends[0])
    } else if names.count == 1,
      description.outputDescriptionsByName[names[0]]?.multiArrayConstraint?.shape.last == 2
    {
      form = .together(names[0])
    } else {
      let found = names.map { "'\($0)'" }.joined(separator: ", ")
      throw ModelError(
        .parameters,
        "the model has no outputs for the start and end of an answer: expected start_logits and end_logits or similar names,"
          + " or one output with two numbers for each token, found \(found.isEmpty ? "none" : found)")
    }
  }

  var summary: String {
    switch form {
    case .apart(let starts, let ends): "starts '\(starts)', ends '\(ends)'"
    case .together(let name): "starts and ends '\(name)'"
    }
  }

  /// Returns the start scores and the end scores of `length` tokens.
  func scores(_ result: some FeatureProvider, length: Int) throws(ModelError) -> (starts: [Float], ends: [Float]) {
    switch form {
    case .apart(let starts, let ends):
      return (try numbers(result, starts, count: length), try numbers(result, ends, count: length))
    case .together(let name):
      let pairs = try numbers(result, name, count: 2 * length)
      return ((0..<length).map { pairs[2 * $0] }, (0..<length).map { pairs[2 * $0 + 1] })
    }
  }

  private func numbers(_ result: some FeatureProvider, _ name: String, count: Int) throws(ModelError) -> [Float] {
    let array = result.featureValue(for: name)?.multiArrayValue
    guard let array, array.count == count else {
      throw ModelError(
        .featureType, "the output '\(name)' has the shape \(array?.shape ?? []), expected \(count) numbers")
    }
    return array.floats
  }
}
