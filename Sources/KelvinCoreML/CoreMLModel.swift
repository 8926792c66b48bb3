import KelvinGraph
import KelvinImport

/// A `Model` message: its description, and the message of the model's type.
struct CoreMLModel {
  var specificationVersion = 0
  var description = CoreMLDescription()
  /// The field number of the model's type.
  var type: Int
  var contents: WireMessage

  init(_ message: WireMessage) throws(FormatError) {
    var found: (type: Int, contents: WireMessage)?
    var isUpdatable = false
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case CoreMLSchema.Model.specificationVersion: specificationVersion = try field.integer()
      case CoreMLSchema.Model.description: description = try CoreMLDescription(field.message())
      case CoreMLSchema.Model.isUpdatable: isUpdatable = try field.bool()
      default:
        if CoreMLSchema.modelTypes[field.number] != nil { found = (field.number, try field.message()) }
      }
    }
    description.metadata.isUpdatable = isUpdatable
    guard let found else {
      throw FormatError(
        .malformed, file: message.file, "it holds no model of a known type",
        remedy: "expected a Core ML model; the file may be cut short")
    }
    (type, contents) = found
  }

  /// Returns the error for a model of a type that is not supported.
  func refusal(file: String) throws(FormatError) -> FormatError {
    let types = try allTypes()
    let names = types.map { CoreMLSchema.modelTypes[$0] ?? "\($0)" }
    let kind = names.count == 1 ? "a \(names[0])" : "a \(names[0]) of \(names.dropFirst().joined(separator: ", "))"
    let isApples = 2000..<3000
    if let inside = types.first(where: isApples.contains), let name = CoreMLSchema.modelTypes[inside] {
      return FormatError(
        .unsupported, file: file, "it is \(kind): \(name) needs weights that are part of Apple's operating systems",
        remedy: "retrain or convert the model with a feature extractor of its own")
    }
    return FormatError(
      .unsupported, file: file, "it is \(kind), a model type that Kelvin does not run",
      remedy: "convert the model to an ML Program or a neural network")
  }

  /// Returns the type of the model and, for a pipeline, the types of its models.
  func allTypes() throws(FormatError) -> [Int] {
    var types = [type]
    guard StageReader.pipelines.contains(type) else { return types }
    for model in try pipeline().models {
      types += try model.allTypes()
      guard types.count <= 1000 else {
        throw FormatError(.malformed, file: contents.file, "a pipeline has more than 1000 models")
      }
    }
    return types
  }
}

/// A `ModelDescription` message.
struct CoreMLDescription {
  /// The description of the only function.
  var main = CoreMLFunctionDescription()
  /// The description of each function of a model with several functions.
  var functions: [String: CoreMLFunctionDescription] = [:]
  var defaultFunction = "main"
  var metadata = ModelMetadata()

  init() {}

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = CoreMLSchema.ModelDescription
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.input: try main.add(field, to: \.inputs)
      case Fields.output: try main.add(field, to: \.outputs)
      case Fields.state: try main.add(field, to: \.states)
      case Fields.predictedFeatureName: main.predictedFeature = try field.name()
      case Fields.predictedProbabilitiesName: main.predictedProbabilities = try field.name()
      case Fields.functions:
        try field.check(functions.count, WireMessage.operandLimit)
        let function = try CoreMLFunctionDescription(field.message())
        functions[function.name] = function
      case Fields.defaultFunctionName: defaultFunction = try field.name()
      case Fields.metadata: metadata = try ModelMetadata(coreML: field.message())
      default: break
      }
    }
  }
}

/// The description of one function's features.
struct CoreMLFunctionDescription {
  var name = "main"
  var inputs: [CoreMLFeature] = []
  var outputs: [CoreMLFeature] = []
  var states: [CoreMLFeature] = []
  var predictedFeature = ""
  var predictedProbabilities = ""

  init() {}

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = CoreMLSchema.FunctionDescription
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.name: name = try field.name()
      case Fields.input: try add(field, to: \.inputs)
      case Fields.output: try add(field, to: \.outputs)
      case Fields.state: try add(field, to: \.states)
      case Fields.predictedFeatureName: predictedFeature = try field.name()
      case Fields.predictedProbabilitiesName: predictedProbabilities = try field.name()
      default: break
      }
    }
  }

  mutating func add(
    _ field: WireField, to list: WritableKeyPath<CoreMLFunctionDescription, [CoreMLFeature]>
  ) throws(FormatError) {
    try field.check(self[keyPath: list].count, WireMessage.operandLimit)
    self[keyPath: list].append(try CoreMLFeature(field.message()))
  }
}

extension ModelMetadata {
  init(coreML message: WireMessage) throws(FormatError) {
    self.init()
    typealias Fields = CoreMLSchema.Metadata
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.shortDescription: summary = try field.string()
      case Fields.versionString: version = try field.string()
      case Fields.author: author = try field.string()
      case Fields.license: license = try field.string()
      case Fields.userDefined:
        try field.check(userDefined.count)
        let (key, value) = try field.message().mapEntry()
        userDefined[key] = try value?.string() ?? ""
      default: break
      }
    }
  }
}

extension WireMessage {
  /// Returns the key and the value of an entry of a map with string keys: fields 1 and 2.
  func mapEntry() throws(FormatError) -> (key: String, value: WireField?) {
    var key = ""
    var value: WireField?
    var reader = fields()
    while let field = try reader.next() {
      if field.number == 1 { key = try field.name() }
      if field.number == 2 { value = field }
    }
    return (key, value)
  }
}
