/// Operators that other operators spell, and branches in which sizes are found, in loops too. They are written out before
/// a model is cut into stages, which may go through them.
struct ONNXSpelling {
  /// By what they spell.
  static let byName: [String: @Sendable (ONNXNode) -> [ONNXNode]] = ["Compress": compress]
  private static let depthLimit = 16

  /// The names of the graph around branches, and of what was moved into it.
  private var taken: Set<String>

  /// The nodes of a model's graph, spelled out.
  static func spelledOut(_ graph: ONNXGraph) throws(FormatError) -> [ONNXNode] {
    var spelling = ONNXSpelling(
      taken: Set(graph.inputs.map(\.name)).union(graph.initializers.keys).union(graph.nodes.flatMap(\.outputs)))
    var moved: Set<String> = []
    return try spelling.spelledOut(graph.nodes, depth: 0, &moved).map { $0.withoutTotalLength(in: graph) }
  }

  /// - Parameter moved: gains the names of what was moved in front of branches among the nodes.
  private mutating func spelledOut(
    _ nodes: [ONNXNode], depth: Int, _ moved: inout Set<String>
  ) throws(FormatError) -> [ONNXNode] {
    var spelled: [ONNXNode] = []
    for node in nodes {
      if node.qualifiedKind == ONNXControl.branch.name, depth < Self.depthLimit {
        spelled += try branch(node, depth: depth, &moved)
      } else if node.qualifiedKind == ONNXControl.loop.name, depth < Self.depthLimit {
        spelled.append(try loop(node, depth: depth))
      } else {
        spelled += Self.byName[node.qualifiedKind]?(node) ?? [node]
      }
    }
    return spelled
  }

  /// A loop whose body is spelled out.
  private func loop(_ node: ONNXNode, depth: Int) throws(FormatError) -> ONNXNode {
    guard var body = try node.attributes["body"]?.subgraphs().first else { return node }
    var inside = self
    inside.taken.formUnion(body.inputs.map(\.name))
    inside.taken.formUnion(body.initializers.keys)
    inside.taken.formUnion(body.nodes.flatMap(\.outputs))
    var moved: Set<String> = []
    body.nodes = try inside.spelledOut(body.nodes, depth: depth + 1, &moved)
    var loop = node
    loop.attributes["body"]?.rewritten = body
    return loop
  }

  /// A branch, and before it what its sides need to find sizes, which is computed whichever side is taken: what has no
  /// result but its outputs may be, and a cut goes through no branch.
  private mutating func branch(
    _ node: ONNXNode, depth: Int, _ names: inout Set<String>
  ) throws(FormatError) -> [ONNXNode] {
    var (before, branch) = ([ONNXNode](), node)
    for (side, attribute) in node.attributes.sorted(by: { $0.key < $1.key }) {
      guard var graph = try attribute.subgraphs().first else { continue }
      var inner: Set<String> = []
      let nodes = try spelledOut(graph.nodes, depth: depth + 1, &inner)
      let moved = try Self.findingSizes(nodes)
      // What Kelvin lacks stays inside, where it is an error for who takes that side.
      guard !moved.isEmpty, moved.allSatisfy({ nodes[$0].isKnown }) else { continue }
      let constants = graph.initializers.values.sorted { $0.name < $1.name }.map { tensor in
        var constant = ONNXNode(kind: "Constant", inputs: [], outputs: [tensor.name], at: node)
        constant.attributes["value"] = ONNXAttribute(tensor: tensor)
        return constant
      }
      let outside = constants + nodes.indices.filter(moved.contains).map { nodes[$0] }
      let outputs = outside.flatMap(\.outputs).filter { !$0.isEmpty }
      // A name that is there already stays inside, where what finds its size is refused.
      guard outputs.allSatisfy({ inner.contains($0) || !taken.contains($0) }) else { continue }
      taken.formUnion(outputs)
      names.formUnion(outputs)
      before += outside
      graph.nodes = nodes.indices.filter { !moved.contains($0) }.map { nodes[$0] }
      graph.initializers = [:]
      branch.attributes[side]?.rewritten = graph
      branch.knowsItsSide = true
    }
    return before + [branch]
  }

  /// The positions of nodes that find sizes, and of those that they depend on.
  private static func findingSizes(_ nodes: [ONNXNode]) throws(FormatError) -> Set<Int> {
    var makers: [String: Int] = [:]
    for (index, node) in nodes.enumerated() {
      for output in node.outputs where !output.isEmpty { makers[output] = index }
    }
    var staged: [StagedOperation] = []
    for node in nodes { staged.append(try node.staged()) }
    var moved: Set<Int> = []
    var pending = nodes.indices.filter { staged[$0].findsItsSize }
    while let index = pending.popLast() {
      guard moved.insert(index).inserted else { continue }
      pending += staged[index].uses.compactMap { makers[$0.name] }
    }
    return moved
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
