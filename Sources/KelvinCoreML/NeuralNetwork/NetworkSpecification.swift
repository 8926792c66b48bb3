import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// A `NeuralNetwork`, `NeuralNetworkClassifier` or `NeuralNetworkRegressor` message.
struct NetworkSpecification: Sendable {
  enum Preprocessing: Sendable {
    /// `scale · p + bias`, with the biases in the order blue, green, red.
    case scaler(scale: Float, bias: [Float], grayBias: Float)
    /// An image `[C, H, W]` that is subtracted.
    case meanImage([Float])
  }

  var layers: [NetworkLayer] = []
  /// The preprocessing steps of inputs, in order, by the input's name. A step with an empty name applies to each image.
  var preprocessing: [(feature: String, step: Preprocessing)] = []
  /// Whether arrays keep their shape; otherwise they become `[Sequence, Batch, Channel, Height, Width]`.
  var keepsArrayShapes = false
  /// Whether images are `[Batch, Channel, Height, Width]`; otherwise the sequence axis precedes these.
  var keepsImageRank = false
  var labels: Labels?
  /// The name of the tensor with one number for each label; empty if the file does not name it.
  var probabilities = ""

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = NetworkSchema.NeuralNetworkClassifier
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.layers:
        try field.check(layers.count, WireMessage.operationLimit)
        layers.append(try NetworkLayer(field.message(), index: layers.count, depth: 0))
      case Fields.preprocessing:
        try field.check(preprocessing.count, WireMessage.operandLimit)
        if let step = try Self.preprocessing(field.message()) { preprocessing.append(step) }
      case Fields.arrayInputShapeMapping: keepsArrayShapes = try field.integer() != 0
      case Fields.imageInputShapeMapping: keepsImageRank = try field.integer() != 0
      case Fields.stringClassLabels, Fields.int64ClassLabels:
        labels = try Labels(
          field.message(), areStrings: field.number == Fields.stringClassLabels)
      case Fields.labelProbabilityLayerName: probabilities = try field.name()
      default: break
      }
    }
  }

  var structure: SourceStructure { .network(layers: layers.map(\.structure)) }

  private static func preprocessing(
    _ message: WireMessage
  ) throws(FormatError) -> (feature: String, step: Preprocessing)? {
    typealias Fields = NetworkSchema.NeuralNetworkPreprocessing
    var name = ""
    var step: Preprocessing?
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.featureName: name = try field.name()
      case Fields.scaler: step = try scaler(LayerParameters(field.message()))
      case Fields.meanImage:
        let image = LayerParameters(try field.message())
        step = .meanImage(try image.numbers(NetworkSchema.NeuralNetworkMeanImage.meanImage))
      default: break
      }
    }
    return step.map { (name, $0) }
  }

  private static func scaler(_ message: LayerParameters) throws(FormatError) -> Preprocessing {
    typealias Fields = NetworkSchema.NeuralNetworkImageScaler
    return .scaler(
      scale: try message.number(Fields.channelScale) ?? 0,
      bias: [
        try message.number(Fields.blueBias) ?? 0, try message.number(Fields.greenBias) ?? 0,
        try message.number(Fields.redBias) ?? 0,
      ],
      grayBias: try message.number(Fields.grayBias) ?? 0)
  }
}

/// A `NeuralNetworkLayer` message.
struct NetworkLayer: Sendable {
  var name = ""
  var inputs: [String] = []
  var outputs: [String] = []
  /// The field number of the layer's type; 0 if it has none.
  var number = 0
  var parameters: LayerParameters
  /// The nested networks of control flow: the two sides of a branch, or the condition and body of a loop. An omitted
  /// network is empty.
  var networks: [[NetworkLayer]] = []
  /// The tensor that holds the condition of a loop; empty if only the number of iterations ends the loop.
  var condition = ""
  /// For a layer that is not in the file: the number that it gives its outputs, and whether it skips outputs that are
  /// defined already.
  private(set) var setting: (number: Float, unlessThere: Bool)?
  /// Whether the layer is control flow that the host must execute (`DynamicShapeControlFlow`), or contains such control
  /// flow.
  private(set) var mustRunOnHost = false
  /// The program's code that computes the layer; nil for other layers.
  private(set) var custom: CustomOperation.Source?
  let index: Int
  private static let depthLimit = 16

  /// Creates a layer, located at another one, that sets a tensor to one number.
  init(setting name: String, to number: Float, unlessThere: Bool = false, beside layer: NetworkLayer) {
    self.name = layer.name
    outputs = [name]
    self.number = Layers.loadConstantND
    parameters = layer.parameters
    setting = (number, unlessThere)
    index = layer.index
  }

  /// Creates a branch, or a copy of a tensor, located at another layer.
  init(_ number: Int, beside layer: NetworkLayer, _ inputs: [String], _ outputs: [String] = []) {
    name = layer.name
    (self.inputs, self.outputs, self.number) = (inputs, outputs, number)
    parameters = layer.parameters
    index = layer.index
  }

  /// Returns the layer in which the host executes the control flow of the given names, nested networks included.
  func runningOnHost(_ names: Set<String>) -> NetworkLayer {
    guard !networks.isEmpty else { return self }
    var layer = self
    layer.networks = networks.map { $0.map { $0.runningOnHost(names) } }
    layer.mustRunOnHost = names.containsControlFlow(name) || layer.networks.joined().contains(where: \.mustRunOnHost)
    return layer
  }

  /// Reads a layer.
  ///
  /// - Parameter depth: The number of networks around the network of the layer.
  init(_ message: WireMessage, index: Int, depth: Int) throws(FormatError) {
    typealias Fields = NetworkSchema.NeuralNetworkLayer
    self.index = index
    parameters = LayerParameters(message)
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.name: name = try field.name()
      case Fields.input: try field.appendName(to: &inputs)
      case Fields.output: try field.appendName(to: &outputs)
      default:
        guard NetworkSchema.layerTypes[field.number] != nil else { continue }
        number = field.number
        parameters = LayerParameters(try field.message())
      }
    }
    let fields: [Int]
    switch number {
    case Fields.custom:
      custom = try CustomOperation.Source(parameters, place: name)
      return
    case Fields.branch: fields = [LayerSchema.BranchLayerParams.ifBranch, LayerSchema.BranchLayerParams.elseBranch]
    case Fields.loop: fields = [LayerSchema.LoopLayerParams.conditionNetwork, LayerSchema.LoopLayerParams.bodyNetwork]
    default: return
    }
    guard depth < Self.depthLimit else {
      throw FormatError(
        .malformed, file: message.file, place: "layer '\(name)'", offset: message.offset,
        "networks are nested more than \(Self.depthLimit) deep")
    }
    if number == Fields.loop { condition = try parameters.text(LayerSchema.LoopLayerParams.conditionVar) }
    for field in fields {
      var layers: [NetworkLayer] = []
      try parameters.message(field)?.each(NetworkSchema.NeuralNetwork.layers) { (field) throws(FormatError) in
        try field.check(layers.count, WireMessage.operationLimit)
        layers.append(try NetworkLayer(field.message(), index: layers.count, depth: depth + 1))
      }
      networks.append(layers)
    }
  }

  var structure: SourceOperation {
    SourceOperation(
      name: name, kind: kind, inputs: inputs, outputs: outputs,
      blocks: networks.map { SourceBlock(inputs: [], outputs: [], operations: $0.map(\.structure)) })
  }

  /// The layer's type, by Core ML's name.
  var kind: String { NetworkSchema.layerTypes[number] ?? "a layer of unknown type" }
}

extension Labels {
  /// Reads a `StringVector` or an `Int64Vector` message.
  init(_ message: WireMessage, areStrings: Bool) throws(FormatError) {
    var (strings, integers): ([String], [Int]) = ([], [])
    try message.each(ClassicalSchema.StringVector.vector) { (field) throws(FormatError) in
      if areStrings { try field.append(to: &strings) } else { try field.append(to: &integers) }
    }
    self = areStrings ? .strings(strings) : .integers(integers.map(Int64.init))
  }
}
