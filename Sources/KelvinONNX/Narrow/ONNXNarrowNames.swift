import KelvinImport

extension ONNXNode {
  /// Operators whose results have the element type of their first input.
  private static let moving: Set<String> = [
    "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Optional", "OptionalGetElement",
    "Pad", "Reshape", "SequenceAt", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
  ]

  /// The narrow type of each output, as far as it has one, by those of what it reads.
  func narrowOutputs(_ narrow: (String) -> ONNXNarrowType?) throws(FormatError) -> [ONNXNarrowType?] {
    func input(_ index: Int) -> ONNXNarrowType? { index < inputs.count ? narrow(inputs[index]) : nil }
    func attribute(_ name: String) -> ONNXNarrowType? {
      attributes[name]?.integer.flatMap(ONNXNarrowType.init(rawValue:))
    }
    switch qualifiedKind {
    case "Cast": return [attribute("to")]
    case "CastLike": return [input(1)]
    case "QuantizeLinear", "com.microsoft.QuantizeLinear": return [input(2) ?? attribute("output_dtype")]
    case "Constant", "ConstantOfShape": return [attributes["value"]?.tensor?.narrowType]
    case "If": return try declared("then_branch", skipping: 0)
    case "Loop": return try declared("body", skipping: 1)
    case "Scan": return try declared("body", skipping: 0)
    case let kind where Self.moving.contains(kind): return outputs.map { _ in input(0) }
    default: return []
    }
  }

  /// What a sub-graph says of its outputs.
  private func declared(_ attribute: String, skipping count: Int) throws(FormatError) -> [ONNXNarrowType?] {
    let outputs = try attributes[attribute]?.subgraphs().first?.outputs ?? []
    return outputs.dropFirst(count).map(\.narrowType)
  }
}

extension ONNXGraph {
  /// The narrow types of the values of the graph itself, by name.
  ///
  /// - Parameter outer: those of the values around it.
  func narrowTypes(
    around outer: (String) -> ONNXNarrowType? = { _ in nil }
  ) throws(FormatError) -> [String: ONNXNarrowType] {
    var types = initializers.compactMapValues(\.narrowType)
    for input in inputs { if let type = input.narrowType { types[input.name] = type } }
    for node in nodes {
      for (name, type) in zip(node.outputs, try node.narrowOutputs({ types[$0] ?? outer($0) })) {
        if let type { types[name] = type }
      }
    }
    return types
  }
}

extension ONNXTensor {
  /// Its element type, where that is a narrow one.
  var narrowType: ONNXNarrowType? { ONNXNarrowType(rawValue: elementType) }
}

extension ONNXValueInfo {
  var narrowType: ONNXNarrowType? { elementType.flatMap(ONNXNarrowType.init(rawValue:)) }
}
