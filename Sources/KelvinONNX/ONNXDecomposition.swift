import KelvinImport

/// Operators that are decomposed into other operators before a model is split into stages, which may cut through them.
enum ONNXDecomposition {
  /// The decompositions by the names of operators.
  static let byName: [String: @Sendable (ONNXNode) -> [ONNXNode]] = ["Compress": compress, "RoiAlign": roiAlign]
  private static let depthLimit = 16

  /// Returns the nodes of a model's graph, decomposed.
  static func decomposedNodes(_ graph: ONNXGraph) throws(FormatError) -> [ONNXNode] {
    try decomposedNodes(graph.nodes, depth: 0).map { $0.withoutTotalLength(in: graph) }
  }

  private static func decomposedNodes(_ nodes: [ONNXNode], depth: Int) throws(FormatError) -> [ONNXNode] {
    var spelled: [ONNXNode] = []
    for var node in nodes {
      if let spell = byName[node.qualifiedKind] {
        spelled += spell(node)
        continue
      }
      for (key, attribute) in node.attributes where attribute.hasGraphs && depth < depthLimit {
        guard var graph = try attribute.subgraphs().first else { continue }
        graph.nodes = try decomposedNodes(graph.nodes, depth: depth + 1)
        node.attributes[key]?.rewritten = graph
      }
      spelled.append(node)
    }
    return spelled
  }

  /// Picks the elements along an axis for which a condition is true; without an axis, from all elements in row-major
  /// order.
  @Sendable private static func compress(_ node: ONNXNode) -> [ONNXNode] {
    guard node.inputs.count == 2, let output = node.outputs.first else { return [node] }
    let name = node.name
    func step(_ kind: String, _ inputs: [String], _ output: String) -> ONNXNode {
      var step = ONNXNode(kind: kind, inputs: inputs, outputs: [output], at: node)
      step.givenName = output
      return step
    }
    var whole = step("Constant", [], "\(name)/whole")
    whole.attributes["value_ints"] = ONNXAttribute(integers: [-1])
    let found = step("NonZero", [node.inputs[1]], "\(name)/found")
    let places = step("Reshape", ["\(name)/found", "\(name)/whole"], "\(name)/places")
    var picked = ONNXNode(kind: "Gather", inputs: [node.inputs[0], "\(name)/places"], outputs: [output], at: node)
    picked.givenName = name
    guard let axis = node.attributes["axis"] else {
      picked.inputs[0] = "\(name)/row"
      return [whole, found, places, step("Reshape", [node.inputs[0], "\(name)/whole"], "\(name)/row"), picked]
    }
    picked.attributes["axis"] = axis
    return [whole, found, places, picked]
  }

  /// If the number of samples depends on the sizes of boxes, adds nodes that compute an upper bound on the samples
  /// along a side of a part. The bound is a power of two, so that few specializations serve many boxes.
  @Sendable private static func roiAlign(_ node: ONNXNode) -> [ONNXNode] {
    guard node.inputs.count == 3, (node.attributes["sampling_ratio"]?.integer ?? 0) == 0 else { return [node] }
    var steps: [ONNXNode] = []
    func add(
      _ kind: String, _ inputs: [String], _ output: String, _ attributes: [String: ONNXAttribute] = [:]
    ) -> String {
      var step = ONNXNode(kind: kind, inputs: inputs, outputs: ["\(node.name)/\(output)"], at: node)
      step.givenName = step.outputs[0]
      step.attributes = attributes
      steps.append(step)
      return step.outputs[0]
    }
    func constant(_ name: String, _ value: Float) -> String {
      add("Constant", [], name, ["value_float": ONNXAttribute(float: value)])
    }
    func integers(_ name: String, _ values: [Int]) -> String {
      add("Constant", [], name, ["value_ints": ONNXAttribute(integers: values)])
    }
    let float = ["to": ONNXAttribute(integer: ONNXSchema.TensorProto.DataType.float)]
    let boxes = add("Cast", [node.inputs[1]], "boxes", float)
    let scale = constant("scale", node.attributes["spatial_scale"]?.float ?? 1)
    let corners = [("first", [0, 1]), ("second", [2, 3])].map { name, places in
      let given = add(
        "Gather", [boxes, integers("\(name)_places", places)], "\(name)_given", ["axis": ONNXAttribute(integer: 1)])
      return add("Mul", [given, scale], name)
    }
    // At least one pixel, as if boxes began at their corners; excess samples have no weight.
    let least = constant("least", 1)
    let reach = add("Max", [add("Sub", [corners[1], corners[0]], "difference"), least], "reach")
    let sides = ["output_width", "output_height"].map { max(node.attributes[$0]?.integer ?? 1, 1) }
    let counts = add("Cast", [integers("sides", sides)], "parts", float)
    let pixels = add("Ceil", [add("Div", [reach, counts], "part")], "pixels")
    let row = add("Reshape", [pixels, integers("whole", [-1])], "row")
    let some = add("Reshape", [least, integers("single", [1])], "least_row")
    let all = add("Concat", [row, some], "all", ["axis": ONNXAttribute(integer: 0)])
    let most = add("ReduceMax", [all], "most", ["keepdims": ONNXAttribute(integer: 0)])
    // Logarithms of powers of two may be slightly too large.
    let binary = add("Mul", [add("Log", [most], "logarithm"), constant("binary", 1.442695)], "exponent")
    let power = add("Ceil", [add("Sub", [binary, constant("margin", 1e-4)], "below")], "power")
    let room = add("Pow", [constant("two", 2), power], "room")
    var aligned = node
    aligned.inputs.append(
      add("Cast", [room], "samples", ["to": ONNXAttribute(integer: ONNXSchema.TensorProto.DataType.int64)]))
    return steps + [aligned]
  }
}

extension ONNXNode {
  /// Whether the operator is supported.
  var isKnown: Bool {
    let kind = qualifiedKind
    return ONNXControl.byName[kind] != nil || ONNXMapper.byName[kind] != nil || ONNXSequence.byName[kind] != nil
  }

  /// Returns the node without its input for the total length if it is an attention whose cache is an input of the
  /// model, with space for all future keys, for one sequence. Sizes then do not depend on the number of keys so far,
  /// which the lengths give, and one graph serves every step.
  fileprivate func withoutTotalLength(in graph: ONNXGraph) -> ONNXNode {
    let (keys, values, lengths, total) = (3, 4, 5, 6)
    guard qualifiedKind == ONNXMapper.groupQueryAttention.name, inputs.count > total, !inputs[lengths].isEmpty else {
      return self
    }
    func info(_ infos: [ONNXValueInfo], _ name: String) -> ONNXValueInfo? { infos.first { $0.name == name } }
    /// Whether the output of a cache has the same constant sizes as its input.
    func isRoom(_ index: Int) -> Bool {
      guard outputs.count > index - keys + 1, let past = info(graph.inputs, inputs[index])?.sizes?.map(\.value),
        let present = info(graph.outputs, outputs[index - keys + 1])?.sizes?.map(\.value)
      else { return false }
      return past.count == 4 && past[0] == 1 && past[2] ?? 0 > 0 && past == present
    }
    guard isRoom(keys), isRoom(values), info(graph.inputs, inputs[total]) != nil,
      graph.initializers[inputs[total]] == nil
    else { return self }
    var node = self
    node.inputs[total] = ""
    return node
  }
}
