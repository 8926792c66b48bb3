import KelvinGraph
import KelvinImport

/// A `NeuralNetwork`, `NeuralNetworkClassifier` or `NeuralNetworkRegressor`.
struct NetworkSpecification: Sendable {
  enum Preprocessing: Sendable {
    /// `scale · p + bias`, the biases in the order blue, green, red.
    case scaler(scale: Float, bias: [Float], grayBias: Float)
    /// `[C, H, W]`, subtracted.
    case meanImage([Float])
  }

  var layers: [NetworkLayer] = []
  /// What is done to an input before the layers see it, in order, by its name; what has none is for each image.
  var preprocessing: [(feature: String, step: Preprocessing)] = []
  /// Whether arrays keep their shape, instead of becoming `[Sequence, Batch, Channel, Height, Width]`.
  var keepsArrayShapes = false
  /// Whether images are `[Batch, Channel, Height, Width]`, instead of having the sequence axis before that.
  var keepsImageRank = false
  var labels: Labels?
  /// The blob with one number for each label; empty where the file does not say.
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

/// A `NeuralNetworkLayer`.
struct NetworkLayer: Sendable {
  var name = ""
  var inputs: [String] = []
  var outputs: [String] = []
  /// The field number of the layer's type; 0 where it has none.
  var number = 0
  var parameters: LayerParameters
  /// The networks inside control flow: a branch's two sides, a loop's condition and body; one that is left out is
  /// empty.
  var networks: [[NetworkLayer]] = []
  /// The tensor by which a loop goes on; empty where only its number of trips says.
  var condition = ""
  /// Of a layer that no file holds: the number that it gives its output, unless that is there already.
  private(set) var setting: (number: Float, unlessThere: Bool)?
  /// Whether it is control flow that no graph can hold (`DynamicShapeControlFlow`), or lies around some.
  private(set) var mustRunOnHost = false
  let index: Int
  private static let depthLimit = 16

  /// A layer beside another that gives a tensor one number.
  init(setting name: String, to number: Float, unlessThere: Bool = false, beside layer: NetworkLayer) {
    self.name = layer.name
    outputs = [name]
    self.number = NetworkSchema.NeuralNetworkLayer.loadConstantND
    parameters = layer.parameters
    setting = (number, unlessThere)
    index = layer.index
  }

  /// A branch, or a copy of a tensor, beside another layer.
  init(_ number: Int, beside layer: NetworkLayer, _ inputs: [String], _ outputs: [String] = []) {
    name = layer.name
    (self.inputs, self.outputs, self.number) = (inputs, outputs, number)
    parameters = layer.parameters
    index = layer.index
  }

  /// The layer with control flow walked, itself and in its networks, that has such a name.
  func runningOnHost(_ names: Set<String>) -> NetworkLayer {
    guard !networks.isEmpty else { return self }
    var layer = self
    layer.networks = networks.map { $0.map { $0.runningOnHost(names) } }
    layer.mustRunOnHost = names.containsControlFlow(name) || layer.networks.joined().contains(where: \.mustRunOnHost)
    return layer
  }

  /// - Parameter depth: how many networks are around the layer's own.
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
  var kind: String { NetworkSchema.layerTypes[number] ?? "a layer of no known type" }
}

extension Labels {
  /// A `StringVector` or an `Int64Vector`.
  init(_ message: WireMessage, areStrings: Bool) throws(FormatError) {
    var (strings, integers): ([String], [Int]) = ([], [])
    var reader = message.fields()
    while let field = try reader.next() {
      guard field.number == ClassicalSchema.StringVector.vector else { continue }
      if areStrings { try field.append(to: &strings) } else { try field.append(to: &integers) }
    }
    self = areStrings ? .strings(strings) : .integers(integers.map(Int64.init))
  }
}
