import KelvinGraph
import KelvinImport

/// A neural network as a stage of a model.
struct NetworkStage: ModelStage {
  let network: NetworkSpecification
  /// The layers that the stage emits.
  var layers: [NetworkLayer]
  let inputs: [Feature]
  var outputs: [Feature]
  /// For classifiers, the name of the tensor with one number for each label.
  var probabilities: String?
  /// Tensors that other parts of the network compute, with their slots.
  var entering: [(slot: String, name: String)] = []
  /// The outputs that other parts read.
  var leaving: [NetworkPartOutput] = []
  /// Whether the layers are nested in control flow that the host executes.
  var isNested = false
  /// The names of the inputs whose scaler is applied when the image is sampled.
  var prescaled: Set<String> = []
  let file: String

  init(_ model: CoreMLModel, _ inputs: [Feature], _ outputs: [Feature], file: String) throws(FormatError) {
    network = try NetworkSpecification(model.contents)
    layers = network.layers
    self.inputs = inputs
    self.outputs = outputs
    self.file = file
    guard network.labels != nil else {
      probabilities = nil
      return
    }
    let made = Set(network.layers.flatMap(\.outputs))
    let named = [network.probabilities, model.description.main.predictedProbabilities]
    probabilities = named.first { made.contains($0) } ?? network.layers.last?.outputs.first
  }

  var structure: SourceStructure { network.structure }
  var labels: Labels? { network.labels }

  func findMissing(_ missing: inout MissingOperations) { Self.findMissing(in: network.layers, &missing) }

  /// Collects the unsupported features of layers and of their nested layers. The sides of a branch are skipped: a side
  /// that is not taken may have unsupported layers.
  static func findMissing(in layers: [NetworkLayer], _ missing: inout MissingOperations) {
    for layer in layers {
      if !layer.isControl, layer.custom == nil, LayerMapper.byName[layer.number] == nil {
        missing.add(layer.kind, at: layer.name)
      }
      guard layer.number != Layers.branch else { continue }
      for network in layer.networks { findMissing(in: network, &missing) }
    }
  }

  func emit(_ emitter: Emitter, _ values: [String: ValueID]) throws -> [String: ValueID] {
    let scope = LayerScope(emitter, file: file)
    for feature in inputs {
      guard let id = values[feature.name] else { continue }
      try scope.define(feature.name, try enter(id, feature, scope))
    }
    for (slot, name) in entering {
      guard let id = values[slot] else { throw GraphError("tensor '\(name)'", "no part of the network computes it") }
      scope.redefine(name, Blob(id, emitter.shape(id)))
    }
    let read = Set(outputs.map(\.name) + [probabilities].compactMap { $0 } + leaving.compactMap(\.value.tensor))
    let writer = NetworkWriter(scope: scope, file: file, isNested: isNested)
    _ = try writer.write(layers[...], readLater: read)
    var result: [String: ValueID] = [:]
    for feature in outputs where scope.has(feature.name) {
      result[feature.name] = try leave(try scope.read(feature.name), feature, scope)
    }
    for left in leaving { result[left.slot] = try writer.value(left) }
    if let probabilities {
      result[StageSlot.scores] = try scope.logical(try scope.read(probabilities))
    }
    return result
  }

  /// Returns an input as the layers read it: preprocessed, with the axes that the network's shape mapping defines.
  private func enter(_ id: ValueID, _ feature: Feature, _ scope: LayerScope) throws -> Blob {
    scope.emitter.begin(Origin(name: feature.name, kind: "preprocessing", index: 0), outputNames: [])
    let shape = scope.emitter.shape(id)
    var blob: Blob
    if case .image(let image) = feature.type {
      let input = try scope.emitter.cast(id, to: .float32, step: "float32")
      blob = Blob(input, network.keepsImageRank ? shape : Shape([1] + shape.dimensions))
      let steps = preprocessing(of: feature.name)
      for step in prescaled.contains(feature.name) ? steps.dropFirst() : steps[...] {
        switch step {
        case .scaler:
          let scaled = try scale(try scope.planes(blob), Self.scaling(step, image), scope)
          blob = Blob(scaled, blob.shape)
        case .meanImage(let mean): blob = try center(blob, mean, scope)
        }
      }
      return blob
    } else if network.keepsArrayShapes {
      blob = Blob(id, shape)
    } else {
      blob = Blob(id, try Self.fiveAxes(shape, feature))
    }
    for (name, step) in network.preprocessing where name == feature.name {
      guard case .meanImage(let mean) = step else { continue }
      blob = try center(blob, mean, scope)
    }
    return blob
  }

  private func center(_ blob: Blob, _ mean: [Float], _ scope: LayerScope) throws -> Blob {
    let planes = try scope.planes(try scope.convert(blob, to: .float32))
    let sizes = Array(scope.emitter.shape(planes).dimensions.dropFirst())
    guard mean.count == Shape(sizes).count else {
      throw scope.emitter.invalid("the mean image has \(mean.count) numbers for \(Shape(sizes))")
    }
    let constant = scope.emitter.constant(Weight(Tensor(mean, Shape(sizes))), step: "mean_image")
    return Blob(try scope.emitter.binary(.subtract, planes, constant, step: "centered"), blob.shape)
  }

  private func scale(
    _ input: ValueID, _ scaling: (scale: [Float], bias: [Float]), _ scope: LayerScope
  ) throws -> ValueID {
    let channels: Shape = [scaling.scale.count, 1, 1]
    let scale = scope.emitter.constant(Weight(Tensor(scaling.scale, channels)), step: "channel_scale")
    let bias = scope.emitter.constant(Weight(Tensor(scaling.bias, channels)), step: "bias")
    let scaled = try scope.emitter.binary(.multiply, input, scale, step: "scaled")
    return try scope.emitter.binary(.add, scaled, bias, step: "shifted")
  }

  /// Returns the preprocessing steps of an image input, in order.
  private func preprocessing(of name: String) -> [NetworkSpecification.Preprocessing] {
    network.preprocessing.filter { $0.feature == name || $0.feature.isEmpty }.map(\.step)
  }

  /// Returns the scaler if it is the first preprocessing step of an image: a factor and an addend for each channel, in
  /// the image's channel order.
  func scaling(of name: String, _ image: ImageFeature) -> (scale: [Float], bias: [Float])? {
    guard let step = preprocessing(of: name).first, case .scaler = step else { return nil }
    return Self.scaling(step, image)
  }

  private static func scaling(
    _ step: NetworkSpecification.Preprocessing, _ image: ImageFeature
  ) -> (scale: [Float], bias: [Float]) {
    guard case .scaler(let scale, let bias, let gray) = step else { return ([], []) }
    return switch image.layout {
    case .grayscale, .grayscaleFloat16: ([scale], [gray])
    case .bgr: ([scale, scale, scale], bias)
    case .rgb: ([scale, scale, scale], Array(bias.reversed()))
    }
  }

  /// Returns the shape in which networks up to specification version 3 see an array: `[1, 1, C, 1, 1]` or
  /// `[1, 1, C, H, W]`. If the array has axes for the sequence and the batch, their lengths come first.
  private static func fiveAxes(_ shape: Shape, _ feature: Feature) throws -> Shape {
    let sizes = shape.dimensions
    if case .tensor(_, let dimensions) = feature.type, dimensions.count == 1, sizes.count == 3 {
      return Shape(sizes + [1, 1])
    }
    switch sizes.count {
    case 1: return Shape([1, 1, sizes[0], 1, 1])
    case 3: return Shape([1, 1] + sizes)
    case 4: return Shape([1] + sizes)
    case 5: return shape
    default:
      throw GraphError(
        "input '\(feature.name)'", "has shape \(shape), networks of this version take arrays with 1 or 3 axes")
    }
  }

  /// Returns an output in the shape of its description, if that has the same number of elements.
  private func leave(_ blob: Blob, _ feature: Feature, _ scope: LayerScope) throws -> ValueID {
    scope.emitter.begin(Origin(name: feature.name, kind: "output", index: 0), outputNames: [])
    switch feature.type {
    case .image(let image):
      guard image.layout.isImage(blob.shape) else {
        throw FormatError(
          .malformed, file: file, place: "output '\(feature.name)'",
          "expected an image [1, \(image.layout.channelCount), height, width], the network computes \(blob.shape)",
          remedy: "declare it as a multi-array, or in the colour space that the network computes")
      }
      return try scope.planes(blob)
    case .double, .int64:
      guard blob.shape.count == 1 else {
        throw scope.emitter.invalid("is a number, the network computes \(blob.shape)")
      }
      return try scope.view(blob, [1])
    case .tensor(_, let dimensions):
      let declared = dimensions.compactMap { if case .fixed(let size) = $0 { size } else { nil } }
      if !declared.isEmpty, declared.count == dimensions.count, Shape(declared).isAddressable,
        Shape(declared).count == blob.shape.count
      {
        return try scope.view(blob, Shape(declared))
      }
      if !dimensions.isEmpty, dimensions.count < blob.shape.rank,
        blob.shape.dimensions.dropLast(dimensions.count).allSatisfy({ $0 == 1 })
      {
        return try scope.view(blob, Shape(Array(blob.shape.dimensions.suffix(dimensions.count))))
      }
      return try scope.logical(blob)
    default: return try scope.logical(blob)
    }
  }
}
