#if ONNX
/// Operators that other operators spell. They are written out before a model is cut into stages, which may go through
/// them.
enum ONNXSpelling {
  /// By what they spell.
  static let byName: [String: @Sendable (ONNXNode) -> [ONNXNode]] = ["Compress": compress]
  private static let depthLimit = 16

  /// The nodes of a model's graph, spelled out.
  static func spelledOut(_ graph: ONNXGraph) throws(FormatError) -> [ONNXNode] {
    try spelledOut(graph.nodes, depth: 0).map { $0.withoutTotalLength(in: graph) }
  }

  private static func spelledOut(_ nodes: [ONNXNode], depth: Int) throws(FormatError) -> [ONNXNode] {
    var spelled: [ONNXNode] = []
    for var node in nodes {
      if let spell = byName[node.qualifiedKind] {
        spelled += spell(node)
        continue
      }
      for (key, attribute) in node.attributes where attribute.hasGraphs && depth < depthLimit {
        guard var graph = try attribute.subgraphs().first else { continue }
        graph.nodes = try spelledOut(graph.nodes, depth: depth + 1)
        node.attributes[key]?.rewritten = graph
      }
      spelled.append(node)
    }
    return spelled
  }

  /// Along an axis, the elements at which a condition is true; without one, of all elements in a row.
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
}

extension ONNXNode {
  /// Whether there is a mapper for it.
  var isKnown: Bool {
    let kind = qualifiedKind
    return ONNXControl.byName[kind] != nil || ONNXMapper.byName[kind] != nil || ONNXSequence.byName[kind] != nil
  }

  /// An attention whose cache is an input of the model with room for all keys there will be, for one sequence: sizes do not
  /// depend on how many there are so far, which its lengths say. One graph then serves every step.
  fileprivate func withoutTotalLength(in graph: ONNXGraph) -> ONNXNode {
    let (keys, values, lengths, total) = (3, 4, 5, 6)
    guard qualifiedKind == ONNXMapper.groupQueryAttention.name, inputs.count > total, !inputs[lengths].isEmpty else {
      return self
    }
    func info(_ infos: [ONNXValueInfo], _ name: String) -> ONNXValueInfo? { infos.first { $0.name == name } }
    /// Whether a cache leaves as it came, in sizes that the file gives.
    func isRoom(_ index: Int) -> Bool {
      guard outputs.count > index - keys + 1, let past = info(graph.inputs, inputs[index])?.sizes?.map(\.value),
        let present = info(graph.outputs, outputs[index - keys + 1])?.sizes?.map(\.value)
      else { return false }
      return past.count == 4 && past[0] == 1 && past[2] ?? 0 > 0 && past == present
    }
    guard isRoom(keys), isRoom(values), info(graph.inputs, inputs[total]) != nil, graph.initializers[inputs[total]] == nil
    else { return self }
    var node = self
    node.inputs[total] = ""
    return node
  }
}
#endif
