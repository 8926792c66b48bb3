import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// The operators of `ai.onnx.ml` on tensors; the others run on the host.
  static let classical: [ONNXMapper] = [scaler, binarizer, featureVectorizer, arrayFeatureExtractor]

  /// `(x - offset) · scale`; each is one number or one per column.
  private static let scaler = ONNXMapper("ai.onnx.ml.Scaler") { operation in
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

  /// 1 for numbers above a threshold, else 0.
  private static let binarizer = ONNXMapper("ai.onnx.ml.Binarizer") { operation in
    let emitter = operation.emitter
    let x = try operation.input(0)
    let scalar = emitter.type(x).scalar
    let threshold = emitter.constant(Double(operation.float("threshold", default: 0)), scalar, step: "threshold")
    return [try emitter.cast(try emitter.add(Compare(.greater), x, threshold, step: "is_more"), to: scalar)]
  }

  /// Concatenates rows as float32; a list counts as one row.
  private static let featureVectorizer = ONNXMapper("ai.onnx.ml.FeatureVectorizer") { operation in
    let emitter = operation.emitter
    let sizes = operation.integers("inputdimensions") ?? []
    var rows: [ValueID] = []
    for (index, input) in try operation.allInputs().enumerated() {
      var row = try emitter.cast(input, to: .float32, step: "float32")
      if emitter.shape(row).rank == 1 { row = try emitter.reshape(row, [1, emitter.shape(row).count], step: "row") }
      guard sizes.isEmpty || sizes.indices.contains(index) && sizes[index] == emitter.shape(row).dimensions.last else {
        throw operation.unsupported("input \(index) is \(emitter.type(row)), its sizes are \(sizes.prefix(8))")
      }
      rows.append(row)
    }
    return [try emitter.concat(rows, axis: 1)]
  }

  /// Picks columns of the last axis by a list of their indices.
  private static let arrayFeatureExtractor = ONNXMapper("ai.onnx.ml.ArrayFeatureExtractor") { operation in
    let emitter = operation.emitter
    var x = try operation.input(0)
    if emitter.shape(x).rank == 1 { x = try emitter.reshape(x, [1, emitter.shape(x).count], step: "row") }
    let indices = try operation.input(1)
    let list = try emitter.reshape(indices, [emitter.shape(indices).count], step: "indices")
    return [try emitter.add(Gather(axis: emitter.shape(x).rank - 1), x, list)]
  }
}
