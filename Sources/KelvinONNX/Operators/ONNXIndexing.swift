import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Operators that read or write elements by position, or accumulate the elements up to each position.
  static let indexing: [ONNXMapper] = [
    gatherElements, gatherND, scatterElements("Scatter"), scatterElements("ScatterElements"), scatterND, oneHot, topK,
    cumulativeProduct, cumulativeSum, reverseSequence,
  ]

  private static let gatherElements = ONNXMapper("GatherElements") { c in
    let (x, indices) = (try c.input(0), try c.input(1))
    let axis = try c.emitter.axis(c.integer("axis", default: 0), of: x)
    return [try c.emitter.add(GatherElements(axis: axis), x, indices)]
  }

  private static let gatherND = ONNXMapper("GatherND") { c in
    [try c.emitter.add(GatherND(batchDimensions: c.integer("batch_dims", default: 0)), try c.input(0), try c.input(1))]
  }

  private static func scatterElements(_ name: String) -> ONNXMapper {
    ONNXMapper(name) { c in
      let axis = try c.emitter.axis(c.integer("axis", default: 0), of: try c.input(0))
      return [try c.scattered { ScatterElements(axis: axis, reduction: $0) }]
    }
  }

  private static let scatterND = ONNXMapper("ScatterND") { c in
    [try c.scattered { ScatterND(reduction: $0) }]
  }

  /// One-hot vectors. The values are `[off, on]`.
  private static let oneHot = ONNXMapper("OneHot", valueDependent: [1]) { c in
    let (indices, values) = (try c.input(0), try c.input(2))
    guard let depth = try c.constantNumber(1, "depth"), depth >= 1, depth < 0x1p31, c.emitter.shape(values) == [2]
    else {
      throw c.emitter.invalid("expected a depth of at least 1 and two values, got \(c.emitter.type(values))")
    }
    let off = try c.emitter.slice(values, [SliceRange(start: 0, count: 1)], step: "off")
    let on = try c.emitter.slice(values, [SliceRange(start: 1, count: 1)], step: "on")
    return [
      try c.emitter.oneHot(indices, count: Int(depth), axis: c.integer("axis", default: -1), on: on, off: off)
    ]
  }

  /// The largest or smallest elements. The count is an attribute before operator set 10 and an input from then on.
  private static let topK = ONNXMapper("TopK", valueDependent: [1]) { c in
    let x = try c.input(0)
    let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
    let named = try c.node.attributes["k"]?.integer ?? c.constantIntegers(1, "k")?.first
    guard let count = named else { throw c.emitter.invalid("has no k") }
    return try c.emitter.addAll(
      TopK(axis: axis, count: count, takesLargest: c.flag("largest", default: true)), [x])
  }

  private static let cumulativeProduct = cumulative("CumProd", .product)
  private static let cumulativeSum = cumulative("CumSum", .sum)

  private static func cumulative(_ name: String, _ function: CumulativeReduce.Function) -> ONNXMapper {
    ONNXMapper(name, valueDependent: [1]) { c in
      let x = try c.input(0)
      guard let named = try c.constantIntegers(1, "axis")?.first else { throw c.emitter.invalid("has no axis") }
      let axis = try c.emitter.axis(named, of: x)
      let op = CumulativeReduce(function, axis: axis, isExclusive: c.flag("exclusive"), isReversed: c.flag("reverse"))
      return [try c.emitter.add(op, x)]
    }
  }

  private static let reverseSequence = ONNXMapper("ReverseSequence") { c in
    let (x, lengths) = (try c.input(0), try c.input(1))
    let axis = try c.emitter.axis(c.integer("time_axis", default: 0), of: x)
    let batchAxis = try c.emitter.axis(c.integer("batch_axis", default: 1), of: x)
    return [try c.emitter.reverse(x, lengths: lengths, axis: axis, batchAxis: batchAxis)]
  }
}

extension ONNXOperation {
  /// Emits updates at their positions. For booleans, a sum or maximum tells whether any is true, a product or minimum
  /// whether all are.
  fileprivate func scattered(_ op: (ScatterReduction) -> any Operator) throws -> ValueID {
    let (x, indices, updates, reduction) = (try input(0), try input(1), try input(2), try reduction())
    let ofTruths: ScatterReduction
    switch reduction {
    case .add, .maximum: ofTruths = .maximum
    case .multiply, .minimum: ofTruths = .minimum
    case .replace: return try emitter.add(op(reduction), [x, indices, updates])
    }
    guard emitter.scalar(x) == .bool else { return try emitter.add(op(reduction), [x, indices, updates]) }
    let operands = [
      try emitter.cast(x, to: .uint8, step: "numbers"), indices,
      try emitter.cast(updates, to: .uint8, step: "update_numbers"),
    ]
    return try emitter.cast(try emitter.add(op(ofTruths), operands, step: "scattered"), to: .bool)
  }

  fileprivate func reduction() throws -> ScatterReduction {
    switch text("reduction", default: "none") {
    case "none": return .replace
    case "add": return .add
    case "mul": return .multiply
    case "max": return .maximum
    case "min": return .minimum
    case let other: throw emitter.invalid("reduction '\(other)' is not known")
    }
  }
}
