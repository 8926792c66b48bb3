import KelvinGraph
import KelvinImport

extension ONNXControl {
  /// `mod_p(softmax(mod_s(q · kᵀ · scale))) · v` of `[N, heads, S, D]`. `mod_s` and `mod_p` are optional sub-graphs of
  /// one value. If there are fewer key heads than query heads, each key head serves several query heads. The type of
  /// the scores is `softmax_precision`: float32 by default, or float64.
  static let flexAttention = ONNXControl(name: "ai.onnx.preview.FlexAttention") { operation, source, scope in
    let emitter = operation.emitter
    let operands = (try operation.input(0), try operation.input(1), try operation.input(2))
    let shapes = [operands.0, operands.1, operands.2].map { emitter.shape($0) }
    guard shapes.allSatisfy({ $0.rank == 4 }), shapes[0][3] > 0 else {
      throw emitter.invalid("expected [N, heads, S, D], got \(shapes[0]), \(shapes[1]) and \(shapes[2])")
    }
    let scalar = emitter.scalar(operands.0)
    let number = operation.integer("softmax_precision", default: 0)
    guard let precision = number == 0 ? scalar == .float64 ? .float64 : .float32 : ScalarType(onnx: number),
      precision.isFloatingPoint
    else { throw operation.unsupported("its softmax_precision is ONNX's type number \(number)") }
    let scale = operation.float("scale", default: 1 / Float(shapes[0][3]).squareRoot())
    let keys = try emitter.repeatHeads(operands.1, shapes[0][1], step: "keys")
    let values = try emitter.repeatHeads(operands.2, shapes[0][1], step: "values")
    let query = try emitter.unary(UnaryFunction(.affine, a: scale), operands.0, step: "scaled_query")
    let products = try emitter.add(MatMul(transposesY: true), query, keys, step: "products")

    /// Applies a sub-graph to a value; returns the value unchanged if the node does not have the sub-graph.
    func modified(_ x: ValueID, _ attribute: String) throws -> ValueID {
      guard operation.node.attributes[attribute]?.hasGraphs == true else { return x }
      let graph = try operation.graph(attribute)
      let (origin, names) = (emitter.origin, emitter.outputNames)
      let results = try scope.inside(graph) {
        guard graph.inputs.count == 1 else {
          throw emitter.invalid("its \(attribute) has \(graph.inputs.count) inputs, expected 1")
        }
        try scope.define(graph.inputs[0].name, x, by: attribute)
        return try source.outputs(of: graph, operation, scope)
      }
      emitter.begin(origin, outputNames: names)
      guard results.count == 1, emitter.type(results[0]) == emitter.type(x) else {
        throw emitter.invalid(
          "its \(attribute) gives \(results.map { emitter.type($0) }), expected one value of \(emitter.type(x))")
      }
      return results[0]
    }
    let scores = try modified(try emitter.cast(products, to: precision, step: "scores"), "score_mod")
    let shares = try modified(try emitter.add(Softmax(axis: 3), scores, step: "shares"), "prob_mod")
    let result = try emitter.add(
      MatMul(), shares, try emitter.cast(values, to: precision, step: "wide_values"),
      step: precision == scalar ? nil : "result")
    return [.tensor(try emitter.cast(result, to: scalar))]
  }
}
