import KelvinBasics
import KelvinGraph
import KelvinImport

/// Reads the tensors of a Core ML model: the weights of a neural network's layers, the constants of an ML Program, and
/// those of the models of a pipeline.
///
/// Reference: coremltools' NeuralNetwork.proto and Model.proto.
struct CoreMLWeights {
  private let file: ExactString
  private let files: WeightFiles
  private(set) var list = ShippedTensors()

  /// - Parameters:
  ///   - model: A `Model` message.
  ///   - files: The weight files beside the model's file.
  ///   - file: The name of the model's file.
  init(_ model: WireMessage, _ files: WeightFiles, file: String) throws(FormatError) {
    (self.file, self.files) = (ExactString(file), files)
    try read(model)
  }

  private mutating func read(_ model: WireMessage) throws(FormatError) {
    var reader = model.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.Model.pipelineClassifier, Fields.Model.pipelineRegressor:
        if let pipeline = try field.message().last(Fields.NestedPipeline.pipeline)?.message() {
          try read(all: pipeline)
        }
      case Fields.Model.pipeline: try read(all: field.message())
      case Fields.Model.neuralNetwork, Fields.Model.neuralNetworkClassifier, Fields.Model.neuralNetworkRegressor:
        try read(network: field.message())
      case Fields.Model.mlProgram:
        list = try ProgramConstants(field.message(), files, program: file.string, addingTo: list).list
      default: break
      }
    }
  }

  private mutating func read(all pipeline: WireMessage) throws(FormatError) {
    try pipeline.each(Fields.Pipeline.models) { (field) throws(FormatError) in try read(field.message()) }
  }

  private mutating func read(network: WireMessage) throws(FormatError) {
    try network.each(Fields.NeuralNetwork.layers) { (field) throws(FormatError) in
      let layer = try field.message()
      let name = try layer.last(Fields.Layer.name)?.string() ?? ""
      var reader = layer.fields()
      while let field = try reader.next() {
        guard let kind = LayerKind.all[field.number] else { continue }
        let parameters = try field.message()
        for number in kind.networks {
          try parameters.each(number) { (inner) throws(FormatError) in try read(network: inner.message()) }
        }
        try read(kind.weights, of: parameters, name, kind)
      }
    }
  }

  private mutating func read(
    _ weights: [LayerKind.Weight], of parameters: WireMessage, _ name: String, _ kind: LayerKind
  ) throws(FormatError) {
    for weight in weights {
      var index = 0
      try parameters.each(weight.number) { (field) throws(FormatError) in
        let message = try field.message()
        let numbered = index == 0 ? weight.name : "\(weight.name)\(index)"
        index += 1
        guard weight.parts.isEmpty else { return try read(weight.parts, of: message, "\(name).\(numbered)", kind) }
        guard let stored = try Self.stored(message) else { return }
        let shape = weight.name == "weights" ? try kind.shape(parameters) : []
        list.add(
          "\(name).\(numbered)",
          Shape(shape).isAddressable && Shape(shape).count == stored.count ? shape : [stored.count], stored.coding,
          [.init(file: file, offset: message.offset, byteCount: message.bytes.count)])
      }
    }
  }

  /// Returns the coding and the number of elements of a `WeightParams` message; nil if it has none.
  private static func stored(_ message: WireMessage) throws(FormatError) -> (coding: TensorCoding, count: Int)? {
    var floats = 0
    var found: (coding: TensorCoding, count: Int)?
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.WeightParams.floatValue:
        if case .bytes(let bytes) = field.value { floats += bytes.count / 4 } else { floats += 1 }
      case Fields.WeightParams.float16Value: found = (.elements("float16"), try field.bytes().count / 2)
      case Fields.WeightParams.int8RawValue: found = (.elements("int8"), try field.bytes().count)
      case Fields.WeightParams.rawValue:
        let quantization = try message.last(Fields.WeightParams.quantization)?.message()
        let bits = max(1, try quantization?.last(Fields.QuantizationParams.numberOfBits)?.integer() ?? 8)
        let isPalette = try quantization?.last(Fields.QuantizationParams.lookupTable) != nil
        found = (isPalette ? .palette(bits: bits) : .elements("uint\(bits)"), try field.bytes().count * 8 / bits)
      default: break
      }
    }
    if let found, found.count > 0 { return found }
    return floats > 0 ? (.elements("float32"), floats) : nil
  }
}
