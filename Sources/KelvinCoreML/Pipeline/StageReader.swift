import KelvinGraph
import KelvinImport

/// Reads a Core ML model that is not an ML Program: a network, a classical model, or a pipeline of models.
///
/// - Parameters:
///   - files: Access to the files that the model refers to.
///   - names: The paths of the files that the program depends on.
/// - Throws: `FormatError`; with code `.unsupported` for an unsupported type of model.
func readStages(
  of model: CoreMLModel, file: String, path: String, files: ModelFiles, names: [String]
) throws(FormatError) -> ModelProgram {
  guard try model.allTypes().allSatisfy({ StageReader.isKnown($0) }) else { throw try model.refusal(file: file) }
  var reader = StageReader(file: file, weights: files)
  let structure = try reader.read(model)
  let function = try reader.function(model.description.main)
  let isNetwork = StageReader.networks.contains(model.type)
  let isPipeline = StageReader.pipelines.contains(model.type)
  return ModelProgram(
    functions: ["main": function], defaultFunction: "main", metadata: model.description.metadata, structure: structure,
    source: ModelSource(
      path: path, format: isNetwork ? .neuralNetwork : isPipeline ? .pipeline : .classical,
      version: model.specificationVersion, files: names, opened: files.opened))
}

/// Collects the stages of a model, including those of nested pipelines, in order.
struct StageReader {
  private typealias Types = CoreMLSchema.Model

  static let networks: Set<Int> = [Types.neuralNetwork, Types.neuralNetworkClassifier, Types.neuralNetworkRegressor]
  static let pipelines: Set<Int> = [Types.pipeline, Types.pipelineClassifier, Types.pipelineRegressor]

  private static let others: Set<Int> = [Types.mlProgram, Types.nonMaximumSuppression, Types.linkedModel]

  static func isKnown(_ type: Int) -> Bool {
    networks.contains(type) || pipelines.contains(type) || others.contains(type)
      || ClassicalModel.readers[type] != nil
  }

  let file: String
  private let weights: ModelFiles
  private var stages: [PipelineStage] = []
  /// The number of models read through links.
  private var linkCount = 0
  /// The greatest nesting depth of models.
  private static let depthLimit = 16
  /// The greatest number of models read through links, counted at each reference.
  private static let linkLimit = 1000

  init(file: String, weights: ModelFiles) {
    self.file = file
    self.weights = weights
  }

  /// Adds a model's stages.
  ///
  /// - Returns: The structure of the model.
  mutating func read(_ model: CoreMLModel, depth: Int = 0) throws(FormatError) -> SourceStructure {
    if Self.pipelines.contains(model.type) { return try readPipeline(model, depth: depth) }
    if model.type == Types.linkedModel { return try readLinked(model, depth: depth) }
    let stage = try stage(model)
    stages.append(stage)
    return stage.structure
  }

  /// Adds the stages of a linked model in place of the link.
  private mutating func readLinked(_ model: CoreMLModel, depth: Int) throws(FormatError) -> SourceStructure {
    guard depth < Self.depthLimit else {
      throw FormatError(.malformed, file: file, "models link to models more than \(Self.depthLimit) deep")
    }
    linkCount += 1
    guard linkCount <= Self.linkLimit else {
      throw FormatError(.malformed, file: file, "models link to more than \(Self.linkLimit) models")
    }
    let linked = try LinkedModel(model, weights, file: file).read()
    guard try linked.model.allTypes().allSatisfy({ Self.isKnown($0) }) else {
      throw try linked.model.refusal(file: linked.file)
    }
    var reader = StageReader(file: linked.file, weights: linked.files)
    reader.linkCount = linkCount
    let structure = try reader.read(linked.model, depth: depth + 1)
    linkCount = reader.linkCount
    stages += reader.stages
    return structure
  }

  private mutating func readPipeline(_ model: CoreMLModel, depth: Int) throws(FormatError) -> SourceStructure {
    guard depth < Self.depthLimit else {
      throw FormatError(.malformed, file: file, "pipelines are nested more than \(Self.depthLimit) deep")
    }
    let (models, names) = try model.pipeline()
    var structures: [(name: String, structure: SourceStructure)] = []
    for (index, part) in models.enumerated() {
      let name = index < names.count ? names[index] : "\(index)"
      structures.append((name, try read(part, depth: depth + 1)))
    }
    return .pipeline(stages: structures)
  }

  private func stage(_ model: CoreMLModel) throws(FormatError) -> PipelineStage {
    let (inputs, outputs) = (try features(model.description.main.inputs), try features(model.description.main.outputs))
    if let reader = ClassicalModel.readers[model.type] {
      let classical = ClassicalModel(
        kind: CoreMLSchema.modelTypes[model.type] ?? "", parameters: LayerParameters(model.contents), inputs: inputs,
        outputs: outputs)
      return .host(try reader(classical)())
    }
    switch model.type {
    case Types.mlProgram: return .graph(try ProgramStage(model, inputs, outputs, file: file, weights: weights))
    case Types.nonMaximumSuppression: return .graph(try SuppressionStage(model, inputs, outputs))
    default: return .graph(try NetworkStage(model, inputs, outputs, file: file))
    }
  }

  private func features(_ described: [CoreMLFeature]) throws(FormatError) -> [Feature] {
    var features: [Feature] = []
    for feature in described { features.append(try Feature(feature, named: feature.name, MILType(), file: file)) }
    return features
  }

  /// Returns the function of the stages, with the features of the outermost model's description.
  mutating func function(_ description: CoreMLFunctionDescription) throws(FormatError) -> Function {
    let reader = self
    var inputs = try features(description.inputs)
    let outputs = try features(description.outputs)
    guard !outputs.isEmpty else { throw FormatError(.malformed, file: file, "its description has no outputs") }
    let suppression = stages.last?.graph as? SuppressionStage
    for index in inputs.indices {
      prescale(&inputs[index])
      inputs[index].takesSequences = takesSequences(inputs[index])
      if isStart(inputs[index]) { inputs[index].defaultValue = 0 }
      if let value = suppression?.standardValue(of: inputs[index].name) { inputs[index].defaultValue = value }
    }
    let parts = StageParts(stages, inputs, outputs, predictedFeature: description.predictedFeature, file: file).parts
    var function = try Function(inputs: inputs, outputs: outputs, parts: parts).checked(file: file)
    function.runningOnHost = { names in
      var runningOnHost = reader
      runningOnHost.runOnHost(names)
      return try runningOnHost.function(description)
    }
    return function
  }

  /// Makes the host execute the control flow of the given names in networks, as far as possible.
  private mutating func runOnHost(_ names: Set<String>) {
    for index in stages.indices {
      guard var network = stages[index].graph as? NetworkStage else { continue }
      network.layers = network.layers.map { $0.runningOnHost(names) }
      stages[index] = .graph(network)
    }
  }

  /// Whether a feature is an optional array without a default value that only networks read. Converters declare the
  /// initial states of recurrent layers so. The value is zero if it is not given.
  private func isStart(_ feature: Feature) -> Bool {
    guard feature.isOptional, feature.defaultValue == nil, case .tensor = feature.type else { return false }
    let readers = stages.filter { stage in stage.inputs.contains { $0.name == feature.name } }
    return !readers.isEmpty && readers.allSatisfy { $0.graph is NetworkStage }
  }

  /// Whether all readers of a feature are networks that give every array five axes.
  private func takesSequences(_ feature: Feature) -> Bool {
    guard case .tensor(_, let dimensions) = feature.type, [1, 3].contains(dimensions.count) else { return false }
    let readers = stages.filter { stage in stage.inputs.contains { $0.name == feature.name } }
    return !readers.isEmpty
      && readers.allSatisfy { ($0.graph as? NetworkStage)?.network.keepsArrayShapes == false }
  }

  /// Moves the scaler of an image into the sampling of images, if only one network reads the image.
  private mutating func prescale(_ feature: inout Feature) {
    guard case .image(var image) = feature.type else { return }
    let readers = stages.indices.filter { index in stages[index].inputs.contains { $0.name == feature.name } }
    guard readers.count == 1, var network = stages[readers[0]].graph as? NetworkStage,
      let scaling = network.scaling(of: feature.name, image)
    else { return }
    (image.scale, image.bias) = scaling
    feature.type = .image(image)
    network.prescaled.insert(feature.name)
    stages[readers[0]] = .graph(network)
  }
}

extension CoreMLModel {
  /// Returns the models of a pipeline and their names; there may be fewer names.
  func pipeline() throws(FormatError) -> (models: [CoreMLModel], names: [String]) {
    var pipeline: WireMessage? = contents
    if type == CoreMLSchema.Model.pipelineClassifier {
      pipeline = try contents.message(CoreMLSchema.PipelineClassifier.pipeline)
    } else if type == CoreMLSchema.Model.pipelineRegressor {
      pipeline = try contents.message(CoreMLSchema.PipelineRegressor.pipeline)
    }
    var (models, names): ([CoreMLModel], [String]) = ([], [])
    guard let pipeline else { return (models, names) }
    var reader = pipeline.fields()
    while let field = try reader.next() {
      switch field.number {
      case CoreMLSchema.Pipeline.models:
        try field.check(models.count, 1000)
        models.append(try CoreMLModel(field.message()))
      case CoreMLSchema.Pipeline.names: try field.appendName(to: &names)
      default: break
      }
    }
    return (models, names)
  }
}
