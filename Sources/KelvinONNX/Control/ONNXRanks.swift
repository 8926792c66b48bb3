import KelvinImport

/// The ranks of a graph's values, derived from the file's declarations and from a few operators. They suffice to detect
/// branches whose sides differ in rank if the file declares no shapes for their outputs.
struct ONNXRanks {
  private var ranks: [String: Int] = [:]
  /// The number of elements of vectors.
  private var counts: [String: Int] = [:]
  private static let depthLimit = 16

  /// Declares the ranks of branch outputs in a graph and in its sub-graphs.
  static func declare(in graph: inout ONNXGraph) throws(FormatError) {
    guard graph.nodes.contains(where: { $0.attributes.values.contains(where: \.hasGraphs) }) else { return }
    var ranks = ONNXRanks()
    try ranks.declare(in: &graph, depth: 0)
  }

  private mutating func declare(in graph: inout ONNXGraph, depth: Int) throws(FormatError) {
    for input in graph.inputs { ranks[input.name] = input.sizes?.count }
    for (name, tensor) in graph.initializers { try note(tensor, as: name) }
    for index in graph.nodes.indices {
      if depth < Self.depthLimit {
        for (key, attribute) in graph.nodes[index].attributes where attribute.hasGraphs {
          guard var inner = try attribute.subgraphs().first else { continue }
          var inside = self
          try inside.declare(in: &inner, depth: depth + 1)
          let isSide = graph.nodes[index].qualifiedKind == ONNXControl.branch.name
          for place in inner.outputs.indices where isSide && inner.outputs[place].sizes == nil {
            guard let rank = inside.ranks[inner.outputs[place].name] else { continue }
            inner.outputs[place].sizes = Array(repeating: ONNXValueInfo.Size(), count: rank)
          }
          graph.nodes[index].attributes[key]?.rewritten = inner
        }
      }
      try note(graph.nodes[index])
    }
  }

  private mutating func note(_ tensor: ONNXTensor, as name: String) throws(FormatError) {
    let sizes = try tensor.dimensions()
    ranks[name] = sizes.count
    counts[name] = sizes.count == 1 ? sizes[0] : nil
  }

  private mutating func note(_ node: ONNXNode) throws(FormatError) {
    guard let output = node.outputs.first, !output.isEmpty else { return }
    func rank(_ index: Int) -> Int? { index < node.inputs.count ? ranks[node.inputs[index]] : nil }
    switch node.qualifiedKind {
    case "Constant":
      if let tensor = node.attributes["value"]?.tensor ?? node.attributes["sparse_value"]?.sparseTensor {
        try note(tensor, as: output)
      }
      if node.attributes["value_float"] != nil || node.attributes["value_int"] != nil { ranks[output] = 0 }
      for name in ["value_ints", "value_floats"] {
        guard let list = node.attributes[name] else { continue }
        (ranks[output], counts[output]) = (1, list.integers.count + list.floats.count)
      }
    case "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "Where", "Equal", "Less", "Greater", "And",
      "Or", "LessOrEqual", "GreaterOrEqual", "Mod", "Xor":
      let all = node.inputs.map { ranks[$0] }
      if !all.contains(nil) { ranks[output] = all.compactMap { $0 }.max() }
    case "Identity", "Cast", "CastLike", "Neg", "Abs", "Floor", "Ceil", "Round", "Exp", "Log", "Sqrt", "Not", "Relu",
      "Sigmoid", "Tanh", "Clip", "Softmax", "Slice", "Concat", "Transpose", "Pad", "Tile":
      ranks[output] = rank(0)
    case "Split": for output in node.outputs { ranks[output] = rank(0) }
    case "Shape":
      ranks[output] = 1
      if node.attributes["start"] == nil, node.attributes["end"] == nil { counts[output] = rank(0) }
    case "Size": ranks[output] = 0
    case "Range", "NonZero": ranks[output] = node.kind == "Range" ? 1 : 2
    case "Reshape", "ConstantOfShape", "Expand":
      let shape = node.kind == "ConstantOfShape" ? node.inputs.first : node.inputs.dropFirst().first
      guard let count = shape.flatMap({ counts[$0] }) else { return }
      ranks[output] = node.kind == "Expand" ? rank(0).map { max($0, count) } : count
    case "Gather": if let data = rank(0), let places = rank(1) { ranks[output] = data + places - 1 }
    case "Squeeze", "Unsqueeze":
      let axes =
        node.attributes["axes"]?.integers.count ?? (node.inputs.count > 1 ? counts[node.inputs[1]] : nil)
      guard let given = rank(0), let axes else { return }
      ranks[output] = max(node.kind == "Squeeze" ? given - axes : given + axes, 0)
    case ONNXControl.branch.name:
      var sides: [[ONNXValueInfo]] = []
      for name in ["then_branch", "else_branch"] {
        if let graph = try node.attributes[name]?.subgraphs().first { sides.append(graph.outputs) }
      }
      guard sides.count == 2 else { return }
      for (place, output) in node.outputs.enumerated() where !output.isEmpty {
        let counts = sides.map { place < $0.count ? $0[place].sizes?.count : nil }
        if counts[0] == counts[1] { ranks[output] = counts[0] }
      }
    default: return
    }
  }
}
