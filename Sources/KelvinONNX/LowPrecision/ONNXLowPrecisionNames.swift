import KelvinImport

extension ONNXNode {
  /// Operators whose results have the element type of their first input.
  private static let moving: Set<String> = [
    "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Optional", "OptionalGetElement",
    "Pad", "Reshape", "SequenceAt", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
  ]

  /// Returns the low-precision type of each output, or nil, derived from the types of the inputs.
  func lowPrecisionOutputs(_ narrow: (String) -> ONNXLowPrecisionType?) throws(FormatError) -> [ONNXLowPrecisionType?] {
    func input(_ index: Int) -> ONNXLowPrecisionType? { index < inputs.count ? narrow(inputs[index]) : nil }
    func attribute(_ name: String) -> ONNXLowPrecisionType? {
      attributes[name]?.integer.flatMap(ONNXLowPrecisionType.init(rawValue:))
    }
    switch qualifiedKind {
    case "Cast": return [attribute("to")]
    case "CastLike": return [input(1)]
    case "QuantizeLinear", "com.microsoft.QuantizeLinear": return [input(2) ?? attribute("output_dtype")]
    case "Constant", "ConstantOfShape": return [attributes["value"]?.tensor?.lowPrecisionType]
    case "If": return try declared("then_branch", skipping: 0)
    case "Loop": return try declared("body", skipping: 1)
    case "Scan": return try declared("body", skipping: 0)
    case let kind where Self.moving.contains(kind): return outputs.map { _ in input(0) }
    default: return []
    }
  }

  /// Returns the low-precision types that a sub-graph declares for its outputs.
  private func declared(_ attribute: String, skipping count: Int) throws(FormatError) -> [ONNXLowPrecisionType?] {
    let outputs = try attributes[attribute]?.subgraphs().first?.outputs ?? []
    return outputs.dropFirst(count).map(\.lowPrecisionType)
  }
}

extension ONNXGraph {
  /// Returns the low-precision types of the graph's own values, by name.
  ///
  /// - Parameter outer: Returns the low-precision type of a value around the graph.
  func lowPrecisionTypes(
    around outer: (String) -> ONNXLowPrecisionType? = { _ in nil }
  ) throws(FormatError) -> [String: ONNXLowPrecisionType] {
    var types = initializers.compactMapValues(\.lowPrecisionType)
    for input in inputs { if let type = input.lowPrecisionType { types[input.name] = type } }
    for node in nodes {
      for (name, type) in zip(node.outputs, try node.lowPrecisionOutputs({ types[$0] ?? outer($0) })) {
        if let type { types[name] = type }
      }
    }
    return types
  }
}

extension ONNXTensor {
  /// The element type if it is a low-precision one, else nil.
  var lowPrecisionType: ONNXLowPrecisionType? { ONNXLowPrecisionType(rawValue: elementType) }
}

extension ONNXValueInfo {
  var lowPrecisionType: ONNXLowPrecisionType? { elementType.flatMap(ONNXLowPrecisionType.init(rawValue:)) }
}
