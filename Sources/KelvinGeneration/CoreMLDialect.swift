import Kelvin

/// The classes for the module `CoreML`, as Xcode writes them.
struct CoreMLDialect {
  /// The types that the source code names. A class or a member of such a name would hide the type.
  static let usedTypes: Set<String> = [
    "AnyHashable", "Bundle", "CGImage", "CVPixelBuffer", "Double", "Error", "FileManager", "Float", "Float16", "Int32",
    "Int64", "Int8", "MLArrayBatchProvider", "MLDictionaryFeatureProvider", "MLFeatureProvider", "MLFeatureValue",
    "MLModel",
    "MLModelConfiguration", "MLMultiArray", "MLPredictionOptions", "MLSequence", "MLShapedArray", "MLState", "NSNumber",
    "Result", "Set", "String", "Swift", "URL", "Void", "kCVPixelFormatType_32ARGB",
    "kCVPixelFormatType_OneComponent16Half",
    "kCVPixelFormatType_OneComponent8",
  ]

  let generator: ModelClassGenerator
  let names: ClassNames
  let description: ModelDescription
  let modelName: String
  let inputs: [NamedFeature]
  let outputs: [NamedFeature]
  /// The access level of each declaration, with a space behind it.
  var access: String { generator.access.keyword }
  private var hasStates: Bool { !description.stateDescriptionsByName.isEmpty }

  init(
    _ generator: ModelClassGenerator, _ names: ClassNames, _ description: ModelDescription, _ modelName: String
  ) {
    (self.generator, self.names, self.description, self.modelName) = (generator, names, description, modelName)
    let reserved = Self.usedTypes.union([
      "featureNames", "featureValue", "provider", names.base.text, names.input, names.output,
    ])
    inputs = NamedFeature.all(
      description.inputNames, description.inputDescriptionsByName, "input", reserved: reserved, generator)
    outputs = NamedFeature.all(
      description.outputNames, description.outputDescriptionsByName, "output", reserved: reserved, generator)
  }

  /// - Throws: `ModelError` with code `parameters` if two members have one name.
  func source() throws(ModelError) -> String {
    var text = SourceText()
    text.addHeader(modelName, imports: ["CoreML"], generator.access)
    try addInput(to: &text)
    try addOutput(to: &text)
    text.add("")
    text.document(description.documentation(modelName), indent: 0)
    text.add("\(access)class \(names.base) {")
    addLoading(to: &text)
    addPredictions(to: &text)
    if hasStates { addStates(to: &text) }
    text.add("}")
    return text.text
  }

  private func addLoading(to text: inout SourceText) {
    text.add("/// The loaded model.\n\(access)let model: MLModel\n", indent: 2)
    if let path = generator.resourcePath {
      text.addResourceURL(path, "\(access)class var", indent: 2)
    } else {
      text.add(
        """
        /// The location of the model in the folder of the program.
        \(access)class var urlOfModelInThisBundle: URL {
          Bundle.main.bundleURL.appendingPathComponent(\(modelName.swiftLiteral))
        }
        """, indent: 2)
    }
    text.add(
      """

      /// Uses a model that is already loaded.
      \(access)init(model: MLModel) { self.model = model }

      /// Loads the model from this module. Blocks the calling thread.
      \(access)convenience init(configuration: MLModelConfiguration = MLModelConfiguration()) throws {
        try self.init(contentsOf: Self.urlOfModelInThisBundle, configuration: configuration)
      }

      /// Loads the model from a file or package. Blocks the calling thread.
      \(access)convenience init(contentsOf modelURL: URL) throws {
        try self.init(model: MLModel(contentsOf: modelURL))
      }

      /// Loads the model from a file or package. Blocks the calling thread.
      \(access)convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws {
        try self.init(model: MLModel(contentsOf: modelURL, configuration: configuration))
      }

      /// Loads the model from this module, and calls the handler when it is loaded.
      \(access)class func load(
        configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<\(names.base), any Error>) -> Void
      ) {
        load(contentsOf: urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)
      }

      /// Loads the model from this module without blocking the calling task's thread.
      \(access)class func load(
        configuration: MLModelConfiguration = MLModelConfiguration()
      ) async throws -> \(names.base) {
        try await load(contentsOf: urlOfModelInThisBundle, configuration: configuration)
      }

      /// Loads the model from a file or package, and calls the handler when it is loaded.
      \(access)class func load(
        contentsOf modelURL: URL, configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping (Swift.Result<\(names.base), any Error>) -> Void
      ) {
        nonisolated(unsafe) let handler = handler
        MLModel.load(contentsOf: modelURL, configuration: configuration) { result in
          handler(result.map { \(names.base)(model: $0) })
        }
      }

      /// Loads the model from a file or package without blocking the calling task's thread.
      \(access)class func load(
        contentsOf modelURL: URL, configuration: MLModelConfiguration = MLModelConfiguration()
      ) async throws -> \(names.base) {
        \(names.base)(model: try await MLModel.load(contentsOf: modelURL, configuration: configuration))
      }
      """, indent: 2)
  }

  private func addPredictions(to text: inout SourceText) {
    text.add(
      """

      /// Makes one prediction. Blocks the calling thread.
      \(access)func prediction(input: \(names.input)) throws -> \(names.output) {
        try prediction(input: input, options: MLPredictionOptions())
      }

      /// Makes one prediction. Blocks the calling thread.
      \(access)func prediction(input: \(names.input), options: MLPredictionOptions) throws -> \(names.output) {
        \(names.output)(features: try model.prediction(from: input, options: options))
      }

      /// Makes one prediction without blocking the calling task's thread.
      \(access)func prediction(
        input: \(names.input), options: MLPredictionOptions = MLPredictionOptions()
      ) async throws -> \(names.output) {
        \(names.output)(features: try await model.prediction(from: input, options: options))
      }
      """, indent: 2)
    for form in InputForm.all(inputs) {
      text.add(
        """

        /// Makes one prediction\(form.documentation). Blocks the calling thread.
        \(access)func prediction(\(form.parameters(inputs))) throws -> \(names.output) {
          try self.prediction(input: \(names.input)(\(form.arguments(inputs))))
        }
        """, indent: 2)
    }
    text.add(
      """

      /// Makes a prediction for each input, several at a time. Blocks the calling thread.
      \(access)func predictions(
        inputs: [\(names.input)], options: MLPredictionOptions = MLPredictionOptions()
      ) throws -> [\(names.output)] {
        let batch = try model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)
        return (0..<batch.count).map { \(names.output)(features: batch.features(at: $0)) }
      }
      """, indent: 2)
  }

  private func addStates(to text: inout SourceText) {
    text.add(
      """

      /// Makes a state for one sequence of predictions.
      \(access)func makeState() -> MLState { model.makeState() }

      /// Makes one prediction that reads and changes a state. Blocks the calling thread.
      \(access)func prediction(input: \(names.input), using state: MLState) throws -> \(names.output) {
        \(names.output)(features: try model.prediction(from: input, using: state))
      }

      /// Makes one prediction that reads and changes a state, without blocking the calling task's thread.
      \(access)func prediction(
        input: \(names.input), using state: MLState, options: MLPredictionOptions = MLPredictionOptions()
      ) async throws -> \(names.output) {
        \(names.output)(features: try await model.prediction(from: input, using: state, options: options))
      }
      """, indent: 2)
  }
}

/// The types that an initializer or a prediction takes for images and arrays.
struct InputForm {
  enum Images { case buffers, images, files }

  let images: Images
  let hasShapedArrays: Bool

  /// The forms for these inputs, the plain one first. There is none without inputs.
  static func all(_ inputs: [NamedFeature]) -> [InputForm] {
    guard !inputs.isEmpty else { return [] }
    let images: [Images] =
      inputs.contains { $0.description.type == .image } ? [.buffers, .images, .files] : [.buffers]
    let shaped = inputs.contains { $0.description.type == .multiArray } ? [false, true] : [false]
    return images.flatMap { each in shaped.map { InputForm(images: each, hasShapedArrays: $0) } }
  }

  /// Whether the form is the memberwise one.
  var isPlain: Bool { images == .buffers && !hasShapedArrays }
  /// Whether images are converted, which may fail.
  var canFail: Bool { images != .buffers }

  var documentation: String {
    let kinds = [canFail ? (images == .images ? "images" : "image files") : "", hasShapedArrays ? "shaped arrays" : ""]
    let named = kinds.filter { !$0.isEmpty }.joined(separator: " and ")
    return named.isEmpty ? "" : " from \(named)"
  }

  /// Whether the form changes the type of an input.
  private func changes(_ input: NamedFeature) -> Bool {
    input.description.type == .image ? images != .buffers : input.description.type == .multiArray && hasShapedArrays
  }

  /// The label of an input in calls.
  private func label(_ input: NamedFeature) -> String {
    guard input.description.type == .image else { return input.name.label }
    return switch images {
    case .buffers: input.name.label
    case .images: "\(input.name.text)With"
    case .files: "\(input.name.text)At"
    }
  }

  func parameters(_ inputs: [NamedFeature]) -> String {
    inputs.map { input in
      // An input whose type the form changes is required, so that calls without it are not ambiguous.
      guard changes(input) else {
        return "\(input.name): \(input.coreMLType)\(input.description.isOptional ? "? = nil" : "")"
      }
      guard input.description.type == .image else { return "\(input.name): MLShapedArray<\(input.shapedScalar)>" }
      return "\(label(input)) \(input.name): \(images == .images ? "CGImage" : "URL")"
    }.joined(separator: ", ")
  }

  /// The arguments of a call of an initializer of this form, with the parameters as values.
  func arguments(_ inputs: [NamedFeature]) -> String {
    inputs.map { "\(label($0)): \($0.name)" }.joined(separator: ", ")
  }

  /// The arguments of a call of the memberwise initializer.
  func convertedArguments(_ inputs: [NamedFeature]) -> String {
    inputs.map { input in
      let label = input.name.label
      guard changes(input) else { return "\(label): \(input.name)" }
      guard input.description.type == .image else { return "\(label): MLMultiArray(\(input.name))" }
      return "\(label): \(input.imageConversion(images, of: "\(input.name)"))"
    }.joined(separator: ", ")
  }
}
