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

/// One callable function: typed features around a recipe for its graph.
///
/// The graph's outputs are the output features that neither the classifier nor the detector makes, in their order; then
/// whatever tensors those two read. An output tensor may have another element type than its feature: whoever reads it
/// converts.
package struct Function: Sendable {
  package var inputs: [Feature]
  package var outputs: [Feature]
  /// Present where the function classifies: how the label and probability outputs come out of a tensor.
  package var classifier: Classifier?
  /// Present where the function ends in non-maximum suppression: how its two array outputs come out of padded tensors.
  package var detector: Detector?
  package var graph: any GraphSource

  package init(
    inputs: [Feature], outputs: [Feature], classifier: Classifier? = nil, detector: Detector? = nil,
    graph: any GraphSource
  ) {
    self.inputs = inputs
    self.outputs = outputs
    self.classifier = classifier
    self.detector = detector
    self.graph = graph
  }
}

/// Builds a function's graph for concrete input sizes. Sources keep their file mapped, so building again for other
/// sizes is cheap and shares every weight.
package protocol GraphSource: Sendable {
  /// - Parameter shapes: the shape of each tensor or image input, by name; those left out take their default.
  /// - Throws: `GraphError`, or a format's error that lists everything the model needs and Kelvin lacks.
  func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph
}

/// An input or output of a function.
package struct Feature: Sendable, Hashable {
  package var name: String
  package var type: FeatureKind
  package var isOptional: Bool
  /// The author's words.
  package var summary: String
  /// For an optional input, the number that fills it when it is left out.
  package var defaultValue: Double?
  /// Where it is not empty, the only shapes a tensor may have; the dimensions' ranges then enclose them.
  package var allowedShapes: [Shape]

  package init(
    name: String, type: FeatureKind, isOptional: Bool = false, summary: String = "", defaultValue: Double? = nil,
    allowedShapes: [Shape] = []
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.summary = summary
    self.defaultValue = defaultValue
    self.allowedShapes = allowedShapes
  }
}

/// What a feature holds, and the sizes it may have.
package enum FeatureKind: Sendable, Hashable {
  case tensor(ScalarType, [Dimension])
  /// An image, which enters the graph as a `[1, C, H, W]` tensor with values 0…255 (or as `ImageFeature.range` says).
  case image(ImageFeature)
  case int64, double, string
  case dictionary(keys: KeyType)
  case sequence(of: KeyType)
  case state(ScalarType, [Dimension])

  package enum KeyType: String, Sendable, Hashable { case int64, string }
}

/// One size of a tensor feature.
package enum Dimension: Sendable, Hashable, CustomStringConvertible {
  case fixed(Int)
  /// Known when an input arrives. `standard` is the size taken when nothing is said, where the source gives one.
  case flexible(name: String, range: ClosedRange<Int>, standard: Int?)

  package var description: String {
    switch self {
    case .fixed(let size): "\(size)"
    case .flexible(let name, let range, _):
      range.upperBound == .max ? "\(name)≥\(range.lowerBound)" : "\(name)∈\(range.lowerBound)…\(range.upperBound)"
    }
  }
}

/// How a classifier's features come out of a probability tensor.
package struct Classifier: Sendable, Hashable {
  package enum Labels: Sendable, Hashable {
    case strings([String])
    case integers([Int64])

    package var count: Int {
      switch self {
      case .strings(let labels): labels.count
      case .integers(let labels): labels.count
      }
    }
  }

  package var labels: Labels
  /// The output feature that holds the most probable label.
  package var labelOutput: String
  /// The output feature that holds the dictionary of label probabilities, where the model has one.
  package var probabilitiesOutput: String?
  /// The position in `Graph.outputs` of the tensor with one element for each label.
  package var graphOutput: Int

  package init(labels: Labels, labelOutput: String, probabilitiesOutput: String?, graphOutput: Int) {
    self.labels = labels
    self.labelOutput = labelOutput
    self.probabilitiesOutput = probabilitiesOutput
    self.graphOutput = graphOutput
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

  package init(path: String, format: Format, version: Int, files: [String]) {
    self.path = path
    self.format = format
    self.version = version
    self.files = files
  }
}
