import KelvinGraph

/// A part of a model whose sizes are known once the parts before it have run.
struct ONNXStage {
  var nodes: [ONNXNode]
  /// What it reads of the model's inputs and of earlier stages.
  var inputs: [String]
  /// Of these, the ones whose elements decide sizes: the stage is built for their values.
  var valued: Set<String>
  /// What it hands to later stages or is an output of the model.
  var outputs: [String]
}

/// Cuts a model where sizes depend on data: behind an operation that finds how many results it has, and before one that
/// reads a size from a tensor which is computed from the model's inputs.
///
/// What is computed from constants and shapes alone is *known*: it belongs to no stage, and each that reads it has the
/// nodes that make it, which are folded while its graph is built. Everything else runs in the first stage that it can.
struct ONNXStages {
  private enum Origin {
    /// Folded by any stage from this one on.
    case known(from: Int)
    /// Computed by a stage, -1 for the model's inputs. One that `grows` has its size when that stage has run.
    case computed(in: Int, grows: Bool)
  }

  private let nodes: [ONNXNode]
  private let inputs: [String]
  private let outputs: [String]
  private let uses: [[ONNXUse]]
  private var origins: [String: Origin] = [:]
  /// The stage of each node that computes; nil for known and unused ones.
  private var stages: [Int?]
  private var makers: [String: Int] = [:]

  /// - Parameters:
  ///   - inputs: the values from outside that nodes may read.
  ///   - constants: the names of initialisers.
  ///   - outputs: the values that are wanted.
  static func stages(
    of nodes: [ONNXNode], inputs: [String], constants: Set<String>, outputs: [String]
  ) throws(FormatError) -> [ONNXStage] {
    var cut = try ONNXStages(nodes, inputs, outputs)
    cut.place(constants)
    return cut.parts()
  }

  private init(_ nodes: [ONNXNode], _ inputs: [String], _ outputs: [String]) throws(FormatError) {
    self.nodes = nodes
    self.inputs = inputs
    self.outputs = outputs
    var uses: [[ONNXUse]] = []
    for node in nodes { uses.append(try ONNXUse.all(of: node)) }
    self.uses = uses
    stages = Array(repeating: nil, count: nodes.count)
    for (index, node) in nodes.enumerated() {
      for output in node.outputs where !output.isEmpty { makers[output] = index }
    }
  }

  /// The nodes that outputs depend on.
  private var live: Set<Int> {
    var live: Set<Int> = []
    var pending = outputs.compactMap { makers[$0] }
    while let index = pending.popLast() {
      guard live.insert(index).inserted else { continue }
      pending += uses[index].compactMap { makers[$0.name] }
    }
    return live
  }

  private mutating func place(_ constants: Set<String>) {
    for name in constants { origins[name] = .known(from: 0) }
    for input in inputs { origins[input] = .computed(in: -1, grows: false) }
    let live = live
    for (index, node) in nodes.enumerated() where live.contains(index) {
      let isOfShapes = ONNXMapper.byName[node.qualifiedKind]?.readsOnlyShapes ?? false
      var isKnown = true
      var stage = 0
      for use in uses[index] {
        switch origins[use.name] {
        case .known(let from): stage = max(stage, from)
        case .computed(let maker, let grows):
          isKnown = isKnown && isOfShapes
          stage = max(stage, grows || (use.needsValue && maker >= 0) ? maker + 1 : maker)
        // An initialiser that is not read, or a name that the graph's source refuses.
        case nil: break
        }
      }
      if !isKnown { stages[index] = stage }
      for output in node.outputs where !output.isEmpty {
        origins[output] = isKnown ? .known(from: stage) : .computed(in: stage, grows: node.findsItsSize)
      }
    }
  }

  private func parts() -> [ONNXStage] {
    let count = 1 + max(stages.compactMap { $0 }.max() ?? 0, outputs.map(stage).max() ?? 0)
    var members = (0..<count).map { stage in Set(stages.indices.filter { stages[$0] == stage }) }
    var read = [[String]](repeating: [], count: count)
    var valued = [Set<String>](repeating: [], count: count)
    var results = [[String]](repeating: [], count: count)
    for output in outputs { results[stage(output)].append(output) }
    // Later stages first: what they read is a result of an earlier one.
    for stage in (0..<count).reversed() {
      var pending = members[stage].flatMap { uses[$0] } + results[stage].map { ONNXUse(name: $0, needsValue: false) }
      var seen: Set<String> = []
      while let use = pending.popLast() {
        switch origins[use.name] {
        case .known:
          if let maker = makers[use.name], members[stage].insert(maker).inserted { pending += uses[maker] }
        case .computed(let maker, _) where maker < stage:
          if use.needsValue { valued[stage].insert(use.name) }
          guard seen.insert(use.name).inserted else { continue }
          read[stage].append(use.name)
          if maker >= 0, !results[maker].contains(use.name) { results[maker].append(use.name) }
        case .computed, nil: break
        }
      }
    }
    let parts = (0..<count).map { stage in
      ONNXStage(
        nodes: members[stage].sorted().map { nodes[$0] }, inputs: read[stage].sorted(), valued: valued[stage],
        outputs: results[stage])
    }.filter { !$0.outputs.isEmpty }
    guard parts.count > 1 || parts.contains(where: { !$0.valued.isEmpty }) else {
      // What no output depends on is refused or mapped as everything else.
      return [ONNXStage(nodes: nodes, inputs: inputs, valued: [], outputs: outputs)]
    }
    return parts
  }

  /// The stage that has a value among its results.
  private func stage(_ output: String) -> Int {
    switch origins[output] {
    case .known(let from): from
    case .computed(let maker, _): max(maker, 0)
    case nil: 0
    }
  }
}

/// A value that a node reads, itself or inside its sub-graphs.
struct ONNXUse {
  var name: String
  /// Whether the mapper asks for its elements, because sizes depend on them.
  var needsValue: Bool

  static func all(of node: ONNXNode) throws(FormatError) -> [ONNXUse] {
    try all(of: node, depth: 0)
  }

  private static let depthLimit = 16

  private static func all(of node: ONNXNode, depth: Int) throws(FormatError) -> [ONNXUse] {
    let valued = node.valuedInputs
    var uses: [ONNXUse] = []
    for (index, name) in node.inputs.enumerated() where !name.isEmpty {
      uses.append(ONNXUse(name: name, needsValue: valued.contains(index)))
    }
    // Deeper ones are refused when they are written.
    guard depth < depthLimit else { return uses }
    for message in node.attributes.values.flatMap(\.graphs) {
      let graph = try ONNXGraph(message)
      var own = Set(graph.inputs.map(\.name)).union(graph.initializers.keys)
      for inner in graph.nodes {
        uses += try all(of: inner, depth: depth + 1).filter { !own.contains($0.name) }
        own.formUnion(inner.outputs)
      }
      uses += graph.outputs.filter { !own.contains($0.name) }.map { ONNXUse(name: $0.name, needsValue: false) }
    }
    return uses
  }
}

extension ONNXNode {
  /// The inputs whose elements its mapper asks for.
  fileprivate var valuedInputs: Set<Int> {
    ONNXMapper.byName[qualifiedKind]?.valuedInputs ?? ONNXControl.byName[qualifiedKind]?.valuedInputs(self) ?? []
  }

  /// Whether it has outputs whose size is known when it has run.
  fileprivate var findsItsSize: Bool {
    ONNXMapper.byName[qualifiedKind]?.findsItsSize ?? ONNXControl.byName[qualifiedKind]?.findsItsSize(self) ?? false
  }
}
