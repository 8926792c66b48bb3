import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// A custom layer, which the program's code computes.
struct NetworkCustomLayer {
  let source: CustomOperation.Source
  /// The network before the layer, which gives its inputs the shapes that layers see.
  let start: NetworkTensors
  private let results: [String]

  /// Returns nil for other layers.
  init?(_ layer: NetworkLayer, in outer: NetworkTensors) {
    guard let source = layer.custom else { return nil }
    var start = outer.inside(layer, ".start")
    for input in layer.inputs { _ = start.leave(.tensor(input)) }
    (self.source, self.start, results) = (source, start, layer.outputs)
  }

  /// Returns the layer's operation.
  ///
  /// - Parameter slots: The slots of the layer's outputs, by name.
  func operation(_ slots: [String: String]) -> CustomOperation {
    CustomOperation(source, inputs: start.left, outputs: results.map { slots[$0] ?? $0 })
  }
}

extension CustomOperation.Source {
  /// Reads a layer's parameters.
  init(_ parameters: LayerParameters, place: String) throws(FormatError) {
    typealias Fields = LayerSchema.CustomLayerParams
    var weights: [Bytes] = []
    for message in try parameters.messages(Fields.weights) { weights.append(try LayerWeights(message).stored()) }
    self.init(
      kind: .layer, place: place, className: try parameters.string(Fields.className),
      summary: try parameters.string(Fields.description),
      parameters: try parameters.customParameters(Fields.parameters), weights: weights)
  }
}

extension LayerParameters {
  /// Returns the parameters of custom code, a map from strings. A value without a number, a string or bytes is left out.
  func customParameters(_ field: Int) throws(FormatError) -> [String: CustomOperation.Parameter] {
    typealias Values = ClassicalSchema.CustomModel.CustomModelParamValue
    var parameters: [String: CustomOperation.Parameter] = [:]
    for entry in try messages(field) {
      guard let value = try entry.message(2)?.message else { continue }
      var reader = value.fields()
      while let field = try reader.next() {
        let parameter: CustomOperation.Parameter? =
          switch field.number {
          case Values.doubleValue: .double(try field.double())
          case Values.stringValue: .string(try field.string())
          case Values.intValue, Values.longValue: .integer(Int64(try field.integer()))
          case Values.boolValue: .bool(try field.bool())
          case Values.bytesValue: .bytes(try field.bytes().withUnsafeBytes { [UInt8]($0) })
          default: nil
          }
        if let parameter { parameters[try entry.string(1)] = parameter }
      }
    }
    return parameters
  }
}
