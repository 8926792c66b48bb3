import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  static let linearRegressor = ONNXHostMapper("ai.onnx.ml.LinearRegressor") { (node) throws(FormatError) in
    let model = try node.linearModel(count: node.integer("targets", default: 1), .scores)
    let transform = try node.transform()
    return [try node.rowsOutput(transform == .none ? model : model.with(.transformed(transform)), .float32)]
  }

  static let linearClassifier = ONNXHostMapper("ai.onnx.ml.LinearClassifier") { (node) throws(FormatError) in
    let labels = try node.classLabels(integers: "classlabels_ints")
    let offsets = node.node.attributes["intercepts"]?.floats.count ?? 0
    let model = try node.linearModel(count: offsets > 0 ? offsets : labels.count, .scores)
    guard model.offsets.count == labels.count || labels.count == 2 && model.offsets.count == 1 else {
      throw node.malformed("it has \(model.offsets.count) scores for \(labels.count) classes")
    }
    return [try node.classifierOutput(LinearClassifier(model, try node.transform()), labels)]
  }

  static let normalizer = ONNXHostMapper("ai.onnx.ml.Normalizer") { (node) throws(FormatError) in
    let norm: Normalization.Norm
    switch node.text("norm", default: "MAX") {
    case "MAX": norm = .largest
    case "L1": norm = .magnitudes
    case "L2": norm = .length
    case let other: throw node.unsupported("its norm is '\(other)'")
    }
    return [try node.rowsOutput(Normalization(norm), .float32)]
  }

  static let imputer = ONNXHostMapper("ai.onnx.ml.Imputer") { (node) throws(FormatError) in
    let attributes = node.node.attributes
    let imputed: Imputation
    if let floats = attributes["imputed_value_floats"]?.floats, !floats.isEmpty {
      let replaced = Double(node.float("replaced_value_float", default: 0))
      imputed = Imputation(of: replaced, by: floats.map(Double.init))
    } else {
      let integers = node.integers("imputed_value_int64s")
      guard !integers.isEmpty else { throw node.malformed("it has nothing to impute") }
      let replaced = Double(node.integer("replaced_value_int64", default: 0))
      imputed = Imputation(of: replaced, by: integers.map(Double.init))
    }
    return [try node.rowsOutput(imputed, nil)]
  }
}

extension ONNXHostNode {
  /// Returns the model with the given `coefficients` and `intercepts`.
  fileprivate func linearModel(count: Int, _ outcome: LinearModel.Outcome) throws(FormatError) -> LinearModel {
    let (weights, offsets) = (try numbers("coefficients"), try numbers("intercepts"))
    guard count > 0, !weights.isEmpty, weights.count.isMultiple(of: count), offsets.isEmpty || offsets.count == count
    else { throw malformed("\(weights.count) coefficients and \(offsets.count) intercepts for \(count) scores") }
    return LinearModel(
      weights: weights, offsets: offsets.isEmpty ? [Double](repeating: 0, count: count) : offsets,
      width: weights.count / count, outcome: outcome)
  }
}
