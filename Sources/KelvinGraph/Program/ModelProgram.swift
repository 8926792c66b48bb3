/// The contents of a model file, independent of its format.
package struct ModelProgram: Sendable {
  /// The callable functions, by name.
  package var functions: [String: Function]
  /// The name of the function that is called by default.
  package var defaultFunction: String
  package var metadata: ModelMetadata
  /// The structure of the source, which passes do not change.
  package var structure: SourceStructure
  package var source: ModelSource

  package init(
    functions: [String: Function], defaultFunction: String, metadata: ModelMetadata, structure: SourceStructure,
    source: ModelSource
  ) {
    self.functions = functions
    self.defaultFunction = defaultFunction
    self.metadata = metadata
    self.structure = structure
    self.source = source
  }
}

package struct ModelMetadata: Sendable, Hashable {
  package var author = ""
  package var license = ""
  package var summary = ""
  package var version = ""
  package var userDefined: [String: String] = [:]
  /// Whether the model's author intends it to be trained on a device.
  package var isUpdatable = false

  package init() {}
}

/// The origin of a program.
package struct ModelSource: Sendable, Hashable {
  package enum Format: String, Sendable, Hashable {
    case onnx = "ONNX"
    case mlProgram = "ML Program"
    case neuralNetwork = "NeuralNetwork"
    /// A pipeline of Core ML models.
    case pipeline = "Pipeline"
    /// A Core ML model that is not a network: a linear model or a transformer of features, for example.
    case classical = "Core ML"
  }

  package var path: String
  package var format: Format
  /// The format's own version: a specification version, or ONNX's operator set.
  package var version: Int
  /// The files whose contents the program depends on, for cache keys.
  package var files: [String]
  /// The files that the program reads.
  package var opened: SourceFiles

  package init(path: String, format: Format, version: Int, files: [String], opened: SourceFiles = SourceFiles()) {
    self.path = path
    self.format = format
    self.version = version
    self.files = files
    self.opened = opened
  }
}
