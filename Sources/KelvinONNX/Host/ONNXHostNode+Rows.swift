import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostNode {
  /// Returns the numbers of an attribute, or of its double-precision variant.
  func numbers(_ name: String) throws(FormatError) -> [Double] {
    if let tensor = node.attributes["\(name)_as_tensor"]?.tensor { return try tensor.read(files).doubles }
    return (node.attributes[name]?.floats ?? []).map(Double.init)
  }

  func transform() throws(FormatError) -> ScoreTransform {
    switch text("post_transform", default: "NONE") {
    case "NONE": return .none
    case "SOFTMAX": return .softmax
    case "LOGISTIC": return .logistic
    case "SOFTMAX_ZERO": return .softmaxOfOthers
    case "PROBIT": return .probit
    case let other: throw unsupported("its transform is '\(other)'")
    }
  }

  /// Returns the labels of a classifier; there are at least two.
  func classLabels(integers: String) throws(FormatError) -> Labels {
    guard let labels = labels(strings: "classlabels_strings", integers: integers) else {
      throw malformed("it has no labels")
    }
    guard labels.count > 1 else { throw unsupported("it has one class", remedy: "name both classes") }
    return labels
  }

  func classifierOutput(
    _ classifier: some RowClassifier, _ labels: Labels
  ) throws(FormatError) -> ONNXHostMapper.Output {
    let step = ClassifierOperation(classifier, labels, input: try input(0), labelOutput: slot(0), scoresOutput: slot(1))
    return ONNXHostMapper.Output(step: step, hostValues: labels.isString ? [step.labelOutput] : [])
  }

  /// Returns the output of a function that maps rows.
  ///
  /// - Parameter scalar: The element type of the results; nil for the input's.
  func rowsOutput(_ function: some RowFunction, _ scalar: ScalarType?) throws(FormatError) -> ONNXHostMapper.Output {
    let step = RowOperation(function, .batch, inputs: [try input(0)], output: try output(), scalar: scalar)
    return ONNXHostMapper.Output(step: step, isHostValue: false)
  }

  /// Returns an output's name, or a generated unique one if the output is omitted.
  private func slot(_ index: Int) -> String {
    guard node.outputs.indices.contains(index), !node.outputs[index].isEmpty else { return "\(mark)\(name(of: index))" }
    return node.outputs[index]
  }

  private func name(of index: Int) -> String { "\(node.index).\(index)" }
}
