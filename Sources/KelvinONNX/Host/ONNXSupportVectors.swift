import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  static let supportVectorRegressor = ONNXHostMapper("ai.onnx.ml.SVMRegressor") { (node) throws(FormatError) in
    let coefficients = try node.numbers("coefficients")
    let count = node.integer("n_supports", default: 0)
    let offset = try node.numbers("rho").first ?? 0
    let isOneClass = node.flag("one_class")
    // Without support vectors the coefficients are those of a linear model.
    let vectors =
      count == 0
      ? try node.supportVectors(.linear, coefficients, count: 1)
      : try node.supportVectors(try node.kernel(), try node.numbers("support_vectors"), count: count)
    guard count == 0 || coefficients.count == count else {
      throw node.malformed("\(coefficients.count) coefficients for \(count) vectors")
    }
    let function = SupportVectorRegression(
      vectors, coefficients: count == 0 ? [1] : coefficients, offset: offset, isOneClass: isOneClass,
      transform: try node.transform())
    return [try node.rowsOutput(function, .float32)]
  }

  static let supportVectorClassifier = ONNXHostMapper("ai.onnx.ml.SVMClassifier") { (node) throws(FormatError) in
    let labels = try node.classLabels(integers: "classlabels_ints")
    let coefficients = try node.numbers("coefficients")
    let (rho, a, b) = (try node.numbers("rho"), try node.numbers("prob_a"), try node.numbers("prob_b"))
    let transform = try node.transform()
    let counts = node.integers("vectors_per_class").map(Int.init)
    guard counts.contains(where: { $0 != 0 }) else {
      // Without support vectors the coefficients are those of a linear model, one row per class.
      guard !coefficients.isEmpty, coefficients.count.isMultiple(of: labels.count), let offset = rho.first else {
        throw node.malformed("\(coefficients.count) coefficients for \(labels.count) classes, \(rho.count) in rho")
      }
      let model = LinearModel(
        weights: coefficients, offsets: [Double](repeating: offset, count: labels.count),
        width: coefficients.count / labels.count)
      return [try node.classifierOutput(LinearClassifier(model, transform), labels)]
    }
    let vectors = try node.supportVectors(
      try node.kernel(), try node.numbers("support_vectors"), count: counts.reduce(0) { $0 &+ $1 })
    guard counts.count == labels.count, counts.allSatisfy({ (0...vectors.count).contains($0) }),
      counts.reduce(0, +) == vectors.count
    else { throw node.malformed("\(vectors.count) vectors are divided into \(counts.prefix(8))") }
    let pairs = labels.count * (labels.count - 1) / 2
    guard coefficients.count == vectors.count * (labels.count - 1), rho.count == pairs, a.isEmpty || a.count == pairs,
      a.count == b.count
    else {
      throw node.malformed(
        "\(coefficients.count) coefficients of \(vectors.count) vectors, \(rho.count), \(a.count) and \(b.count) numbers "
          + "in rho, prob_a and prob_b for \(labels.count) classes")
    }
    guard a.isEmpty || transform == .none else { throw node.unsupported("it transforms probabilities") }
    let classifier = SupportVectorClassifier(
      vectors, counts: counts, coefficients: coefficients, offsets: rho,
      scores: a.isEmpty ? .decisions(transform) : .probabilities(a: a, b: b, isCoupled: true))
    return [try node.classifierOutput(classifier, labels)]
  }
}

extension ONNXHostNode {
  fileprivate func supportVectors(
    _ kernel: SupportVectors.Kernel, _ numbers: [Double], count: Int
  ) throws(FormatError) -> SupportVectors {
    guard count > 0, !numbers.isEmpty, numbers.count.isMultiple(of: count) else {
      throw malformed("\(numbers.count) numbers for \(count) vectors")
    }
    return SupportVectors(kernel, .dense(numbers, width: numbers.count / count))
  }

  fileprivate func kernel() throws(FormatError) -> SupportVectors.Kernel {
    var parameters = try numbers("kernel_params")
    guard parameters.isEmpty || parameters.count == 3 else {
      throw malformed("kernel_params has \(parameters.count) elements, expected 3")
    }
    if parameters.isEmpty { parameters = [0, 0, 0] }
    let (gamma, constant, degree) = (parameters[0], parameters[1], parameters[2])
    switch text("kernel_type", default: "LINEAR") {
    case "LINEAR": return .linear
    case "POLY": return .polynomial(gamma: gamma, constant: constant, degree: degree)
    case "RBF": return .radial(gamma: gamma)
    case "SIGMOID": return .sigmoid(gamma: gamma, constant: constant)
    case let other: throw unsupported("its kernel is '\(other)'")
    }
  }
}
