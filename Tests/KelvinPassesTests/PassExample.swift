import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinReference

/// A graph with the pattern of a pass, and with similar patterns that the pass must keep.
struct PassExample {
  let graph: Graph
  let inputs: [Tensor]
  /// The tolerance of results: arithmetic in another order, or one step of a quantized value.
  let tolerance: Tolerance
}

/// Writes an example node by node; weights and inputs are random from one seed.
struct ExampleBuilder {
  private var builder = GraphBuilder(evaluator: ReferenceEvaluator())
  private var random = SeededGenerator(seed: 17)
  private var inputs: [Tensor] = []

  mutating func input(
    _ name: String, _ shape: Shape, _ scalar: ScalarType = .float32, _ range: ClosedRange<Float>? = nil
  ) throws -> ValueID {
    let range = range ?? (scalar.isFloatingPoint ? -2...2 : 0...255)
    inputs.append(.random(scalar, shape, range, &random))
    return try builder.input(name, TensorType(scalar, shape))
  }

  mutating func weight(_ name: String, _ shape: Shape, _ range: ClosedRange<Float> = -1...1) -> ValueID {
    builder.constant(name, Tensor.random(.float32, shape, range, &random))
  }

  mutating func integers(_ name: String, _ scalar: ScalarType, _ shape: Shape, _ range: ClosedRange<Float>) -> ValueID {
    builder.constant(name, Tensor.random(scalar, shape, range, &random))
  }

  /// The numbers from 0 on, `[1, count]`.
  mutating func range(_ name: String, _ count: Int) -> ValueID {
    builder.constant(name, Tensor((0..<count).map(Int64.init), [1, count]))
  }

  mutating func number(_ name: String, _ value: Double, _ scalar: ScalarType = .float32) -> ValueID {
    builder.constant(name, Tensor(TensorType(scalar, []), rounding: [value]))
  }

  mutating func add(_ name: String, _ op: any Operator, _ operands: ValueID...) throws -> ValueID {
    try builder.add(op, operands, name: name, origin: Origin(name: name, kind: "Example", index: 0))[0]
  }

  /// Writes a region that captures values of the graph around it.
  mutating func region(
    _ role: Region.Role, capturing values: ValueID..., result: (inout ExampleBuilder, [ValueID]) throws -> ValueID
  ) throws -> WrittenRegion {
    let depth = builder.depth
    builder.beginRegion()
    let inside = values.map { builder.value($0, of: depth) }
    return builder.endRegion(role, outputs: [try result(&self, inside)])
  }

  mutating func branch(
    _ name: String, _ condition: ValueID, _ type: TensorType, _ regions: WrittenRegion...
  ) throws -> ValueID {
    try builder.add(
      Branch(results: [type]), [condition], regions: regions, name: name, outputNames: [name],
      origin: Origin(name: name, kind: "Example", index: 0))[0]
  }

  mutating func quantize(_ name: String, _ x: ValueID, scale: Double, zero: Double) throws -> ValueID {
    try add(name, Quantize(scalar: .uint8), x, number("\(name).scale", scale), number("\(name).zero", zero, .uint8))
  }

  mutating func dequantize(_ name: String, _ x: ValueID, scale: Double, zero: Double) throws -> ValueID {
    try add(
      name, Dequantize(), x, number("\(name).scale", scale), number("\(name).zero", zero, builder.type(of: x).scalar))
  }

  /// Writes the operators of ONNX's `DynamicQuantizeLinear`.
  mutating func quantizeDynamically(
    _ name: String, _ x: ValueID
  ) throws -> (integers: ValueID, scale: ValueID, zero: ValueID) {
    let axes = Array(0..<builder.type(of: x).shape.rank)
    let none = number("\(name).none", 0)
    let largest = try add("\(name).largest", Reduce(.maximum, axes: axes, keepsDimensions: false), x)
    let smallest = try add("\(name).smallest", Reduce(.minimum, axes: axes, keepsDimensions: false), x)
    let upper = try add("\(name).upper", Binary(.maximum), largest, none)
    let lower = try add("\(name).lower", Binary(.minimum), smallest, none)
    let range = try add("\(name).range", Binary(.subtract), upper, lower)
    let quotient = try add("\(name).quotient", Binary(.divide), range, number("\(name).steps", 255))
    let isEmpty = try add("\(name).is_empty", Compare(.equal), range, none)
    let scale = try add("\(name).scale", Select(), isEmpty, number("\(name).one", 1), quotient)
    let below = try add("\(name).below", Binary(.divide), lower, scale)
    let offset = try add("\(name).offset", Binary(.subtract), none, below)
    let clipped = try add("\(name).clipped", Unary(.clip(0, 255)), offset)
    let rounded = try add("\(name).rounded", Unary(UnaryFunction(.round)), clipped)
    let zero = try add("\(name).zero", Cast(.uint8), rounded)
    return (try add("\(name).integers", Quantize(scalar: .uint8), x, scale, zero), scale, zero)
  }

  /// Writes `float(rows · weights) · (scale · weights' scale)`, with the operands of products in either order.
  mutating func dynamicProduct(
    _ name: String, _ rows: (integers: ValueID, scale: ValueID, zero: ValueID), _ weights: ValueID, _ scale: ValueID,
    _ zero: ValueID
  ) throws -> (result: ValueID, sums: ValueID) {
    let sums = try add("\(name).sums", MatMulInteger(), rows.integers, weights, rows.zero, zero)
    let real = try add("\(name).real", Cast(.float32), sums)
    let factors = try add("\(name).factors", Binary(.multiply), scale, rows.scale)
    return (try add(name, Binary(.multiply), factors, real), sums)
  }

  mutating func returning(
    _ outputs: ValueID..., tolerance: Tolerance = Tolerance(relative: 1e-5, absolute: 1e-6)
  ) throws -> PassExample {
    for output in outputs { builder.output(output) }
    return PassExample(graph: try builder.finish(), inputs: inputs, tolerance: tolerance)
  }
}
