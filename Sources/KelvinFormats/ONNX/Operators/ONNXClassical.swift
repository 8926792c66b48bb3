import KelvinGraph

extension ONNXMapper {
  /// `(x - offset) · scale`, each one number or one for each column.
  static let scaler = ONNXMapper("ai.onnx.ml.Scaler") { operation in
    let emitter = operation.emitter
    let x = try emitter.cast(try operation.input(0), to: .float32, step: "float32")
    func constant(_ name: String, _ standard: Float) throws -> ValueID {
      let values = operation.node.attributes[name]?.floats ?? [standard]
      guard values.count == 1 || values.count == emitter.shape(x).dimensions.last else {
        throw emitter.invalid("\(name): \(values.count) numbers for \(emitter.type(x))")
      }
      return emitter.constant(Weight(Tensor(values, [values.count])), step: name)
    }
    let centered = try emitter.binary(.subtract, x, try constant("offset", 0), step: "centered")
    return [try emitter.binary(.multiply, centered, try constant("scale", 1))]
  }

  /// Columns of the last axis, by a list of their indices.
  static let arrayFeatureExtractor = ONNXMapper("ai.onnx.ml.ArrayFeatureExtractor") { operation in
    let emitter = operation.emitter
    var x = try operation.input(0)
    if emitter.shape(x).rank == 1 { x = try emitter.reshape(x, [1, emitter.shape(x).count], step: "row") }
    let indices = try operation.input(1)
    let list = try emitter.reshape(indices, [emitter.shape(indices).count], step: "indices")
    return [try emitter.add(Gather(axis: emitter.shape(x).rank - 1), x, list)]
  }
}
