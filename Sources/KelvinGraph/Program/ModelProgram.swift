/// What a model file holds, whatever its format.
package struct ModelProgram: Sendable {
  /// The functions that can be called, by name.
  package var functions: [String: Function]
  /// The function that is called when none is named.
  package var defaultFunction: String
  package var metadata: ModelMetadata
  /// The source's own account of itself, untouched by passes.
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

  package init() {}
}

/// Where a program came from.
package struct ModelSource: Sendable, Hashable {
  package enum Format: String, Sendable, Hashable {
    case onnx = "ONNX"
    case mlProgram = "ML Program"
    case neuralNetwork = "NeuralNetwork"
    /// Core ML models in a row.
    case pipeline = "Pipeline"
    /// Core ML's models that are not networks: linear models and transformers of features.
    case classical = "Core ML"
  }

  package var path: String
  package var format: Format
  /// The format's own version: a specification version, or ONNX's operator set.
  package var version: Int
  /// Every file whose contents the program depends on, for cache keys.
  package var files: [String]
  /// Those of them that are being read.
  package var opened: SourceFiles

  package init(path: String, format: Format, version: Int, files: [String], opened: SourceFiles = SourceFiles()) {
    self.path = path
    self.format = format
    self.version = version
    self.files = files
    self.opened = opened
  }
}
