import KelvinGraph

/// Flattens a graph and its regions into one list of nodes and values.
struct FlatGraphWriter {
  private(set) var flat: FlatGraph
  private let estimate: IterationEstimate
  private var region: [String] = []
  /// `region`, joined as `FlatGraph.Place` stores it.
  private var path = ""
  private var valueNames: Set<String>
  private var nodeNames: Set<String>
  private var hostReads: Set<ValueID> = []
  private var iterations = 1.0
  /// The maximum count in planning: beyond it, a loop's cost dominates in any case.
  private static let mostTurns = 1e8

  init(_ graph: Graph, _ estimate: IterationEstimate) {
    self.estimate = estimate
    var top = graph
    top.nodes = []
    valueNames = Set(graph.values.map(\.name))
    nodeNames = Set(graph.nodes.map(\.name))
    flat = FlatGraph(
      graph: top, copies: Array(repeating: 1, count: graph.values.count),
      memory: graph.values.indices.map { ValueID($0) })
  }

  mutating func write(_ graph: Graph) {
    for state in graph.states {
      flat.sources.append(FlatGraph.Source(name: "\(state.name)#state", value: state.read))
    }
    flat.root = block(graph, graph.values.indices.map { ValueID($0) })
    for (index, output) in graph.outputs.enumerated() where graph.states.contains(where: { $0.read == output }) {
      // The state's memory is overwritten before a caller reads the output: return a copy.
      let name = "\(graph[output].name)#kept\(index)"
      let kept = value(name, graph[output].type)
      let origin = Origin(name: graph[output].name, kind: "output", index: index)
      flat.root.items.append(.node(copy(output, to: kept, name: name, [origin], isLast: false)))
      flat.graph.outputs[index] = kept
    }
    for (index, state) in graph.states.enumerated() {
      guard let written = state.written else { continue }
      if let node = graph.updater(of: state) {
        flat.memory[written.index] = state.read
        flat.ties.append(flat.sources[index].name, node.name)
        continue
      }
      let name = "\(state.name)#next"
      let left = value(name, graph[written].type)
      flat.memory[left.index] = state.read
      let origin = Origin(name: state.name, kind: "state", index: index)
      flat.root.items.append(.node(copy(written, to: left, name: name, [origin], isLast: true)))
      flat.handedOut.insert(left)
      flat.ties.append(flat.sources[index].name, name)
      flat.graph.states[index].written = left
    }
  }

  /// - Parameter addresses: the flat value of each of the graph's values.
  private mutating func block(_ graph: Graph, _ addresses: [ValueID]) -> FlatGraph.Block {
    var block = FlatGraph.Block()
    for node in graph.nodes {
      var flatNode = node
      flatNode.inputs = node.inputs.map { addresses[$0.index] }
      flatNode.outputs = node.outputs.map { addresses[$0.index] }
      switch node.op {
      case is Branch: block.items.append(branch(flatNode))
      case let loop as Loop: write(flatNode, loop, into: &block)
      // Nodes at the top level keep their names, which are reserved for them.
      default: block.items.append(.node(region.isEmpty ? append(flatNode) : add(flatNode)))
      }
    }
    return block
  }

  /// Adds a branch or loop, once for each time that it occurs in the flat graph.
  ///
  /// - Parameters:
  ///   - reading: the number of leading operands that it reads itself.
  ///   - expected: the expected turns each time it is reached.
  /// - Returns: its signal.
  private mutating func control(
    _ node: Node, _ kind: FlatGraph.Control.Kind, reading: Int, turns expected: Double
  ) -> String {
    let name = region.isEmpty ? node.name : Self.unique(node.name, in: &nodeNames, region)
    let reads = node.inputs.prefix(reading).filter { flat.graph[$0].weight == nil }
    let control = FlatGraph.Control(
      name: name, kind: kind,
      origins: node.origins.map { Origin(name: $0.name, kind: $0.kind, index: $0.index) },
      reads: reads, region: path, position: flat.graph.nodes.count, times: iterations,
      turns: min(iterations * expected, Self.mostTurns))
    flat.controls.append(control)
    return control.signal
  }

  private mutating func branch(_ node: Node) -> FlatGraph.Item {
    let signal = control(node, .branch, reading: 1, turns: 1)
    var arms: [FlatGraph.Arm] = []
    var first: [(name: String, value: ValueID)] = []
    for role in [Region.Role.then, .otherwise] {
      guard let region = node.region(role), region.refusal == nil else {
        arms.append(FlatGraph.Arm(block: .init(), refusal: node.region(role)?.refusal ?? "it has no such region"))
        continue
      }
      let taken = estimate.measuredShares[node.name] ?? estimate.thenShare
      let share = role == .then ? taken : 1 - taken
      let arm = inside(node, role, times: share) { writer in
        let addresses = writer.addresses(region, node, given: [])
        var block = writer.block(region.graph, addresses)
        for (number, output) in region.graph.outputs.enumerated() {
          let name = "\(node.name)#\(role.rawValue)\(number)"
          var target = node.outputs[number]
          if number < first.count {
            target = writer.value(name, writer.flat.graph[target].type)
            writer.flat.memory[target.index] = node.outputs[number]
            writer.flat.ties.append(first[number].name, name)
          }
          writer.flat.handedOut.insert(target)
          let copy = writer.copy(addresses[output.index], to: target, name: name, node.origins, isLast: false)
          writer.flat.signals[copy] = signal
          block.items.append(.node(copy))
        }
        return block
      }
      if first.isEmpty {
        first = node.outputs.enumerated().map { ("\(node.name)#\(role.rawValue)\($0)", $1) }
        for output in node.outputs { flat.copies[output.index] = iterations }
      }
      arms.append(FlatGraph.Arm(block: arm, refusal: nil))
    }
    read(node.inputs[0])
    return .branch(
      FlatGraph.BranchItem(
        name: node.name, condition: node.inputs[0], then: arms[0], otherwise: arms[1], results: node.outputs))
  }

  private mutating func write(_ node: Node, _ loop: Loop, into block: inout FlatGraph.Block) {
    guard let region = node.region(.body) else { preconditionFailure("loop '\(node.name)' has no body") }
    let graph = region.graph
    let expected = expectation(node, loop)
    flat.expectations.append(expected)
    let signal = control(node, .loop, reading: loop.firstCarriedOperand, turns: expected.iterations)
    let given = graph.inputs.prefix(1 + loop.carriedCount).map { value(graph[$0].name, graph[$0].type) }
    let iteration = given[0]
    var carried: [(value: ValueID, enter: Int)] = []
    for (number, value) in given.dropFirst().enumerated() {
      let name = "\(node.name)#enter\(number)"
      let enter = copy(
        node.inputs[loop.firstCarriedOperand + number], to: value, name: name, node.origins, isLast: false)
      block.items.append(.node(enter))
      carried.append((value, enter))
    }
    var nextCondition: ValueID?
    var rows: [FlatGraph.Row] = []
    let body = inside(node, .body, times: expected.iterations) { writer in
      for value in given { writer.flat.copies[value.index] = writer.iterations }
      let addresses = writer.addresses(region, node, given: given)
      var body = writer.block(graph, addresses)
      let computed = graph.producers()
      // The memory of a carried value is overwritten at the end of an iteration: results must not share it.
      var results = graph.outputs.enumerated().map { number, output in
        let source = addresses[output.index]
        guard computed[output.index] == nil else { return source }
        let name = "\(node.name)#kept\(number)"
        let kept = writer.value(name, graph[output].type)
        body.items.append(.node(writer.copy(source, to: kept, name: name, node.origins, isLast: false)))
        return kept
      }[...]
      if loop.isConditional { nextCondition = results.removeFirst() }
      for (number, source) in results.prefix(loop.carriedCount).enumerated() {
        let name = "\(node.name)#next\(number)"
        let result = node.outputs[number]
        writer.flat.memory[result.index] = given[1 + number]
        writer.flat.handedOut.insert(result)
        let next = writer.copy(source, to: result, name: name, node.origins, isLast: true)
        writer.flat.signals[next] = signal
        body.items.append(.node(next))
        writer.flat.ties.append("\(node.name)#enter\(number)", name)
      }
      for (row, accumulated) in zip(results.dropFirst(loop.carriedCount), node.outputs.dropFirst(loop.carriedCount)) {
        rows.append(FlatGraph.Row(row: row, accumulated: accumulated))
        writer.read(row)
      }
      nextCondition.map { writer.read($0) }
      // Without carried values, the loop signals every node of the body.
      if loop.carriedCount == 0 {
        for case .node(let index) in body.items { writer.flat.signals[index] = signal }
      }
      return body
    }
    for output in node.outputs { flat.copies[output.index] = iterations }
    let condition = loop.isConditional ? node.inputs[1] : nil
    read(node.inputs[0])
    condition.map { read($0) }
    let iterationsValue = node.outputs[node.outputs.count - 1]
    flat.hostWrites += [iteration, iterationsValue] + rows.map(\.accumulated)
    block.items.append(
      .loop(
        FlatGraph.LoopItem(
          name: node.name, limit: node.inputs[0], condition: condition, nextCondition: nextCondition,
          iteration: iteration, iterations: iterationsValue, rows: rows, body: body, carried: carried,
          results: Array(node.outputs.prefix(loop.carriedCount)))))
  }

  private func expectation(_ node: Node, _ loop: Loop) -> IterationExpectation {
    let limit = flat.graph[node.inputs[0]].weight?.dense().integers.first.map { $0 < 0 ? Double.infinity : Double($0) }
    if let limit, !loop.isConditional, limit.isFinite {
      return IterationExpectation(loop: node.name, iterations: limit, basis: .constant)
    }
    if let measured = estimate.measured[node.name] {
      return IterationExpectation(loop: node.name, iterations: measured, basis: .measured)
    }
    return IterationExpectation(
      loop: node.name, iterations: min(estimate.standard, limit ?? .infinity), basis: .assumed)
  }

  private mutating func inside<Result>(
    _ node: Node, _ role: Region.Role, times: Double, _ write: (inout FlatGraphWriter) -> Result
  ) -> Result {
    let around = (iterations, path)
    region.append("\(node.name)/\(role.rawValue)")
    path = region.count == 1 ? region[0] : "\(path)/\(region[region.count - 1])"
    iterations = min(iterations * times, Self.mostTurns)
    defer {
      region.removeLast()
      (iterations, path) = around
    }
    return write(&self)
  }

  /// Returns the flat value of each of a region's values: given, captured or new.
  private mutating func addresses(_ region: Region, _ node: Node, given: [ValueID]) -> [ValueID] {
    var known: [ValueID: ValueID] = [:]
    for (inner, outer) in zip(region.graph.inputs, given + region.captures.map { node.inputs[$0] }) {
      known[inner] = outer
    }
    return region.graph.values.enumerated().map { index, value in
      known[ValueID(index)] ?? add(value)
    }
  }

  private mutating func value(_ name: String, _ type: TensorType) -> ValueID { add(Value(name: name, type: type)) }

  /// - Parameter value: its name is prefixed with the region's if it is already taken.
  private mutating func add(_ value: Value) -> ValueID {
    var value = value
    value.name = Self.unique(value.name, in: &valueNames, region)
    let id = flat.graph.addValue(value)
    flat.copies.append(iterations)
    flat.memory.append(id)
    return id
  }

  private mutating func copy(
    _ from: ValueID, to target: ValueID, name: String, _ origins: [Origin], isLast: Bool
  ) -> Int {
    let origins = origins.map { Origin(name: $0.name, kind: $0.kind, index: $0.index) }
    let shape = flat.graph[target].type.shape
    return add(
      Node(name: name, op: Reshape(shape), inputs: [from], outputs: [target], origins: origins), isLast: isLast)
  }

  private static func unique(_ name: String, in names: inout Set<String>, _ region: [String]) -> String {
    var name = name
    for part in region.reversed() {
      guard names.contains(name) else { break }
      name = "\(part)/\(name)"
    }
    while !names.insert(name).inserted { name += "'" }
    return name
  }

  private mutating func add(_ node: Node, isLast: Bool = false) -> Int {
    var node = node
    node.name = Self.unique(node.name, in: &nodeNames, region)
    return append(node, isLast: isLast)
  }

  private mutating func append(_ node: Node, isLast: Bool = false) -> Int {
    flat.graph.nodes.append(node)
    flat.places.append(
      FlatGraph.Place(region: path, iterations: iterations, isLast: isLast))
    return flat.graph.nodes.count - 1
  }

  private mutating func read(_ value: ValueID) {
    if flat.graph[value].weight == nil, hostReads.insert(value).inserted { flat.hostReads.append(value) }
  }
}

extension FlatGraph {
  fileprivate init(graph: Graph, copies: [Double], memory: [ValueID]) {
    self.graph = graph
    self.copies = copies
    self.memory = memory
  }
}

extension Graph {
  /// Returns the node that may write a state's next value over the state: it alone reads the state, and replaces some
  /// of its elements.
  fileprivate func updater(of state: GraphState) -> Node? {
    guard let written = state.written, !outputs.contains(written), !outputs.contains(state.read),
      states.count(where: { $0.written == written || $0.written == state.read }) == 1
    else { return nil }
    let readers = nodes.filter { $0.inputs.contains(state.read) }
    guard readers.count == 1, let op = readers[0].op as? any UpdatingOperator,
      let place = readers[0].outputs.firstIndex(of: written), place < op.updatedCount,
      readers[0].inputs.indices.filter({ readers[0].inputs[$0] == state.read }) == [place]
    else { return nil }
    return readers[0]
  }
}
