import KelvinGraph
import KelvinImport

/// Operators of the domain `com.microsoft` that are equal or close to those of the standard domain. ONNX Runtime's
/// `ContribOperators.md` specifies all operators of that domain.
extension ONNXMapper {
  static let microsoft: [ONNXMapper] = [
    standard("Gelu", in: 20), standard("LayerNormalization", in: 17), standard("GridSample", in: 16),
    standard("GatherND", in: 11), standard("Trilu", in: 14, valueDependent: [1]),
    standard("Pad", in: 13, valueDependent: [1, 2, 3]),
    microsoftRange, microsoftUnique, expandDims,
  ]

  /// Returns a mapper for an operator that equals one of an operator set of the standard domain.
  private static func standard(_ name: String, in opset: Int, valueDependent: Set<Int> = []) -> ONNXMapper {
    ONNXMapper("com.microsoft.\(name)", valueDependent: valueDependent) { c in try c.asStandard(name, in: opset) }
  }

  /// A range, whose step may be omitted and is then 1.
  private static let microsoftRange = ONNXMapper("com.microsoft.Range", valueDependent: [0, 1, 2]) { c in
    guard let start = try c.constantScalar(0, "start"), let limit = try c.constantScalar(1, "limit") else {
      throw c.emitter.invalid("has no start and limit")
    }
    let delta = try c.constantScalar(2, "delta") ?? Tensor(TensorType(start.type.scalar, []), rounding: [1])
    return [try c.emitter.range(from: start, to: limit, by: delta)]
  }

  /// Returns distinct elements in the order of their first occurrence, without their positions.
  private static let microsoftUnique = ONNXMapper("com.microsoft.Unique", hasDataDependentShape: true) { c in
    guard c.emitter.shape(try c.input(0)).rank == 1 else {
      throw c.emitter.invalid("expected a vector, got \(c.emitter.type(try c.input(0)))")
    }
    let results = try c.asStandard("Unique", in: 11, ["sorted": ONNXAttribute(integer: 0)])
    return [results[0], results[2], results[3]]
  }

  private static let expandDims = ONNXMapper("com.microsoft.ExpandDims", valueDependent: [1]) { c in
    guard let axis = try c.constantIntegers(1, "axis"), axis.count == 1 else { throw c.emitter.invalid("has no axis") }
    return [try c.emitter.expandDimensions(try c.input(0), at: axis)]
  }
}

extension ONNXOperation {
  /// Emits an operator of the standard domain, as an operator set defines it, with the same inputs.
  ///
  /// - Parameters:
  ///   - attributes: Attributes that are added.
  ///   - inputs: The inputs, if they are not the operator's own.
  func asStandard(
    _ name: String, in opset: Int, _ attributes: [String: ONNXAttribute] = [:], inputs given: [ValueID?]? = nil
  ) throws -> [ValueID] {
    guard let mapper = ONNXMapper.byName[name] else { throw unsupported("it is not mapped") }
    var node = node
    node.attributes.merge(attributes) { _, new in new }
    return try mapper.map(
      ONNXOperation(
        node: node, opset: opset, inputs: given ?? inputs, entities: [],
        lowPrecisionTypes: given == nil ? lowPrecisionTypes : [], valueDependentInputs: valueDependentInputs,
        emitter: emitter, file: file,
        files: files)
    )
  }

  /// Returns a mandatory attribute that is a positive count.
  func count(_ name: String) throws -> Int {
    guard let value = node.attributes[name]?.integer, (1..<(1 << 31)).contains(value) else {
      throw emitter.invalid("\(name) is missing or not from 1 to 2^31 - 1")
    }
    return value
  }

  /// Whether an output is requested.
  func wants(_ output: Int) -> Bool { output < node.outputs.count && !node.outputs[output].isEmpty }
}
