import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinReference

/// Random small graphs of operators that passes merge: activations, clips, transpositions, products, and the
/// decompositions of gelu, layer normalization and attention. Any value in between may be read once more, and be an
/// output.
enum RandomChains {
  private static let shape: Shape = [3, 3, 3]

  static func make(seed: UInt64) throws -> (graph: Graph, inputs: [Tensor]) {
    var random = SeededGenerator(seed: seed)
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    var values = [try builder.input("x", TensorType(.float32, shape))]
    if Bool.random(using: &random) { values.append(try builder.input("y", TensorType(.float32, shape))) }
    let inputCount = values.count
    var count = 0
    @discardableResult
    func add(_ op: any Operator, _ operands: ValueID...) throws -> ValueID {
      let value = try builder.add(
        op, operands, name: "n\(count)", origin: Origin(name: "n\(count)", kind: "Random", index: count))[0]
      count += 1
      // Statistics of a row are read by what they are made for alone, unless they are outputs.
      if builder.type(of: value).shape == shape { values.append(value) }
      return value
    }
    func number(_ value: Float) -> ValueID { builder.constant("number", Tensor([value], [])) }
    // Recent values are taken more often, so that there are chains.
    func any() -> ValueID {
      let recent = max(0, values.count - 3)
      return values[Int.random(in: (Bool.random(using: &random) ? recent : 0)..<values.count, using: &random)]
    }
    func exchange() -> Transpose {
      if Bool.random(using: &random) { return Transpose([0, 2, 1]) }
      return Transpose([[1, 0, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1]].randomElement(using: &random) ?? [1, 0, 2])
    }
    let bounds: [Float] = [-3, -2, -1, 0, 1, 2, 3]
    func clip() -> UnaryFunction {
      let (a, b) = (bounds.randomElement(using: &random) ?? 0, bounds.randomElement(using: &random) ?? 0)
      return .clip(min(a, b), max(a, b))
    }
    while count < 14 {
      let x = any()
      switch Int.random(in: 0..<16, using: &random) {
      case 0...1: try add(Unary(.relu), x)
      case 2...4: try add(Unary(clip()), x)
      case 5: try add(Unary(UnaryFunction(.negate)), x)
      case 6: try add(Unary(UnaryFunction(.affine, a: -1)), x)
      case 7...9: try add(exchange(), x)
      case 10: try add(Binary(Bool.random(using: &random) ? .add : .multiply), x, any())
      case 11: try add(MatMul(), try add(Unary(clip()), x), any())
      case 12: try add(MatMul(), try add(exchange(), x), any())
      case 13: try add(Binary(.multiply), x, try add(Unary(.sigmoid), x))
      case 14:
        let error = try add(Unary(UnaryFunction(.erf)), try add(Binary(.multiply), x, number(Float(0.5).squareRoot())))
        let product = try add(Binary(.multiply), x, try add(Binary(.add), error, number(1)))
        try add(Binary(.multiply), product, number(0.5))
      default:
        if Bool.random(using: &random) {
          let mean = Reduce(.mean, axes: [2], keepsDimensions: true)
          let difference = try add(Binary(.subtract), x, try add(mean, x))
          let variance = try add(mean, try add(Binary(.multiply), difference, difference))
          let deviation = try add(Unary(UnaryFunction(.sqrt)), try add(Binary(.add), variance, number(0.01)))
          try add(Binary(.divide), difference, deviation)
        } else {
          var scores = try add(MatMul(), x, try add(exchange(), any()))
          if Bool.random(using: &random) { scores = try add(Binary(.add), scores, any()) }
          try add(MatMul(), try add(Softmax(axis: 2), scores), any())
        }
      }
    }
    builder.output(values[values.count - 1])
    for _ in 0..<Int.random(in: 0..<3, using: &random) {
      builder.output(values[Int.random(in: 0..<values.count, using: &random)])
    }
    let graph = try builder.finish()
    return (graph, (0..<inputCount).map { _ in .random(.float32, shape, -2...2, &random) })
  }
}
