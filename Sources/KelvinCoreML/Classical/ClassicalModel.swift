import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// A classical model of a file. Its method of the type's name reads it.
struct ClassicalModel: Sendable {
  typealias Reader = @Sendable (ClassicalModel) -> @Sendable () throws(FormatError) -> HostStage
  private typealias Types = CoreMLSchema.Model

  /// The name of the model's type.
  let kind: String
  let parameters: LayerParameters
  let inputs: [Feature]
  let outputs: [Feature]

  /// The methods that read models, by the model's type.
  static let readers: [Int: Reader] = [
    Types.glmRegressor: glmRegressor, Types.glmClassifier: glmClassifier,
    Types.treeEnsembleRegressor: treeEnsembleRegressor, Types.treeEnsembleClassifier: treeEnsembleClassifier,
    Types.supportVectorRegressor: supportVectorRegressor, Types.supportVectorClassifier: supportVectorClassifier,
    Types.kNearestNeighborsClassifier: nearestNeighbors, Types.bayesianProbitRegressor: bayesianProbitRegressor,
    Types.itemSimilarityRecommender: itemSimilarityRecommender, Types.featureVectorizer: featureVectorizer,
    Types.arrayFeatureExtractor: arrayFeatureExtractor, Types.scaler: scaler, Types.imputer: imputer,
    Types.normalizer: normalizer, Types.oneHotEncoder: oneHotEncoder, Types.identity: identity,
    Types.dictVectorizer: dictVectorizer, Types.categoricalMapping: categoricalMapping,
    Types.classConfidenceThresholding: classConfidenceThresholding, Types.customModel: customModel,
  ]

  var message: WireMessage { parameters.message }

  /// Returns the stage of a model on numbers. Its inputs are joined to one vector, and the result is a vector.
  func stage(
    _ function: some RowFunction, of ordered: [Feature]? = nil, labels: Labels? = nil
  ) throws(FormatError) -> HostStage {
    let inputs = ordered ?? inputs
    guard !inputs.isEmpty, !outputs.isEmpty else {
      throw FormatError(
        .malformed, file: message.file, place: kind, "it has \(inputs.count) inputs, \(outputs.count) outputs")
    }
    let layout = RowLayout.joined(widths: inputs.map(\.elementCount))
    let output = outputs.first { if case .dictionary = $0.type { false } else { true } } ?? outputs[0]
    let step = RowOperation(
      function, layout, inputs: inputs.map(\.name), output: labels == nil ? output.name : StageSlot.scores)
    return HostStage(kind: kind, inputs: inputs, outputs: outputs, steps: [step], labels: labels)
  }

  func stage(step: some HostOperation) -> HostStage {
    HostStage(kind: kind, inputs: inputs, outputs: outputs, steps: [step])
  }

  /// Returns the single input and output of the model.
  func ends() throws(FormatError) -> (input: String, output: String) {
    guard inputs.count == 1, outputs.count == 1 else {
      throw malformed("it has \(inputs.count) inputs and \(outputs.count) outputs, expected one of each")
    }
    return (inputs[0].name, outputs[0].name)
  }

  /// Returns the mandatory labels of a classifier, from the string or the integer field.
  func labels(strings: Int, integers: Int) throws(FormatError) -> Labels {
    guard let labels = try Labels(parameters, strings: strings, integers: integers) else {
      throw message.unknown("a classifier without labels")
    }
    return labels
  }

  func malformed(_ reason: String) -> FormatError { message.malformed(kind, reason) }
}

extension WireMessage {
  /// Returns an error about a malformed part of a classical model.
  func malformed(_ place: String, _ reason: String) -> FormatError {
    FormatError(.malformed, file: file, place: place, offset: offset, reason)
  }

  func unknown(_ what: String) -> FormatError {
    FormatError(.unsupported, file: file, offset: offset, "\(what) is not known")
  }
}

extension Feature {
  /// The number of elements, if it is fixed and within limits.
  fileprivate var elementCount: Int? {
    switch type {
    case .int64, .double: return 1
    case .tensor(_, let dimensions):
      let sizes = dimensions.compactMap { if case .fixed(let size) = $0 { size } else { nil } }
      guard sizes.count == dimensions.count, Shape(sizes).isAddressable, Shape(sizes).count <= 1 << 20 else {
        return nil
      }
      return Shape(sizes).count
    default: return nil
    }
  }
}
