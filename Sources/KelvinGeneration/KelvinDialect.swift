import Kelvin
import KelvinBasics

/// The structure for the module `Kelvin`.
struct KelvinDialect {
  /// The types that the source code names. A class or a member of such a name would hide the type.
  static let usedTypes: Set<String> = [
    "ArrayBatchProvider", "Bundle", "CaseIterable", "ClassLabel", "Dictionary", "DictionaryFeatureProvider", "Double",
    "FeatureProvider", "FeatureSequence", "FeatureValue", "FileManager", "Float", "Float16", "ImageCropAndScale",
    "ImageError", "ImageOrientation", "Input", "Int16", "Int32", "Int64", "Int8", "Kelvin", "Label",
    "ModelConfiguration",
    "ModelError", "ModelState", "MultiArray", "Output", "PixelBuffer", "PredictionOptions", "Sendable", "Set",
    "ShapedArray", "String", "UInt8", "URL", "Value", "Void",
  ]
  /// Members and parameters that inputs have besides the features.
  private static let inputMembers: Set<String> = ["cropAndScale", "featureNames", "featureValue", "orientation"]

  let generator: ModelClassGenerator
  let names: ClassNames
  let description: ModelDescription
  let modelName: String
  let inputs: [NamedFeature]
  let outputs: [NamedFeature]
  /// The access level of each declaration, with a space behind it.
  var access: String { generator.access.keyword }
  /// Whether predictions need a state.
  private var hasStates: Bool { !description.stateDescriptionsByName.isEmpty }

  init(
    _ generator: ModelClassGenerator, _ names: ClassNames, _ description: ModelDescription, _ modelName: String
  ) {
    (self.generator, self.names, self.description, self.modelName) = (generator, names, description, modelName)
    inputs = NamedFeature.all(
      description.inputNames, description.inputDescriptionsByName, "input",
      reserved: Self.usedTypes.union(Self.inputMembers), generator)
    outputs = NamedFeature.all(
      description.outputNames, description.outputDescriptionsByName, "output", reserved: Self.usedTypes, generator)
  }

  /// - Throws: `ModelError` with code `parameters` if two members have one name.
  func source() throws(ModelError) -> String {
    var text = SourceText()
    text.addHeader(
      modelName, imports: [generator.resourcePath == nil ? "FoundationEssentials" : "Foundation", "Kelvin"],
      generator.access)
    text.document(description.documentation(modelName), indent: 0)
    text.add("\(access)struct \(names.base): Sendable {")
    addLoading(to: &text)
    hasStates ? addStatefulPredictions(to: &text) : addPredictions(to: &text)
    try addInput(to: &text)
    try addOutput(to: &text)
    addLabels(to: &text)
    text.add("}")
    return text.text
  }

  private func addLoading(to text: inout SourceText) {
    text.add(
      """
      /// The loaded model.
      \(access)let model: Kelvin.Model

      /// Uses a model that is already loaded.
      \(access)init(model: Kelvin.Model) { self.model = model }

      /// Loads the model from a file or package. Blocks the calling thread.
      \(access)init(
        contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration()
      ) throws(ModelError) {
        self.init(model: try Kelvin.Model(contentsOf: url, configuration: configuration))
      }

      /// Loads the model from a file or package without blocking the calling task's thread.
      \(access)static func load(
        contentsOf url: URL, configuration: ModelConfiguration = ModelConfiguration()
      ) async throws(ModelError) -> Self {
        Self(model: try await Kelvin.Model.load(contentsOf: url, configuration: configuration))
      }
      """, indent: 2)
    guard let path = generator.resourcePath else { return }
    text.add("")
    text.addResourceURL(path, "\(access)static var", indent: 2)
    text.add(
      """

      /// Loads the model from the resources of this module. Blocks the calling thread.
      \(access)init(configuration: ModelConfiguration = ModelConfiguration()) throws(ModelError) {
        try self.init(contentsOf: Self.urlOfModelInThisBundle, configuration: configuration)
      }

      /// Loads the model from the resources of this module without blocking the calling task's thread.
      \(access)static func load(
        configuration: ModelConfiguration = ModelConfiguration()
      ) async throws(ModelError) -> Self {
        try await load(contentsOf: urlOfModelInThisBundle, configuration: configuration)
      }
      """, indent: 2)
  }

  private func addPredictions(to text: inout SourceText) {
    text.add(
      """

      /// Makes one prediction. Blocks the calling thread.
      \(access)func prediction(
        _ input: Input, options: PredictionOptions = PredictionOptions()
      ) throws(ModelError) -> Output {
        try Output(model.prediction(from: input, options: options))
      }

      /// Makes one prediction without blocking the calling task's thread.
      \(access)func prediction(
        _ input: Input, options: PredictionOptions = PredictionOptions()
      ) async throws(ModelError) -> Output {
        try Output(await model.prediction(from: input, options: options))
      }

      /// Makes a prediction for each input, several at a time. Blocks the calling thread.
      \(access)func predictions(_ inputs: [Input]) throws(ModelError) -> [Output] {
        try Self.outputs(model.predictions(fromBatch: ArrayBatchProvider(array: inputs)))
      }

      /// Makes a prediction for each input, several at a time, without blocking the calling task's thread.
      \(access)func predictions(_ inputs: [Input]) async throws(ModelError) -> [Output] {
        try Self.outputs(await model.predictions(fromBatch: ArrayBatchProvider(array: inputs)))
      }

      private static func outputs(_ batch: ArrayBatchProvider) throws(ModelError) -> [Output] {
        try batch.array.map { (features) throws(ModelError) -> Output in try Output(features) }
      }
      """, indent: 2)
  }

  private func addStatefulPredictions(to text: inout SourceText) {
    text.add(
      """

      /// Makes a state for one sequence of predictions.
      \(access)func makeState() -> ModelState { model.makeState() }

      /// Makes one prediction that reads and changes a state. Blocks the calling thread.
      \(access)func prediction(
        _ input: Input, using state: ModelState, options: PredictionOptions = PredictionOptions()
      ) throws(ModelError) -> Output {
        try Output(model.prediction(from: input, using: state, options: options))
      }

      /// Makes one prediction that reads and changes a state, without blocking the calling task's thread.
      \(access)func prediction(
        _ input: Input, using state: ModelState, options: PredictionOptions = PredictionOptions()
      ) async throws(ModelError) -> Output {
        try Output(await model.prediction(from: input, using: state, options: options))
      }
      """, indent: 2)
  }
}

extension SourceText {
  /// Adds the property `urlOfModelInThisBundle`. SwiftPM copies a resource under the last part of the path that the target
  /// declares, so the file may be at any end of its path in the target.
  mutating func addResourceURL(_ path: String, _ declaration: String, indent: Int) {
    let parts = path.split(separator: "/")
    let ends = parts.indices.map { parts[$0...].joined(separator: "/").swiftLiteral }.joined(separator: ", ")
    add(
      """
      /// The location of the model in the resources of this module.
      \(declaration) urlOfModelInThisBundle: URL {
        let folder = Bundle.module.resourceURL ?? Bundle.module.bundleURL
        let places = [\(ends)].map { folder.appendingPathComponent($0) }
        return places.first { FileManager.default.fileExists(atPath: $0.path) } ?? places[0]
      }
      """, indent: indent)
  }
}
