package import KelvinGraph
package import KelvinPlanning

/// The order in which one inference's segments and copies happen.
package struct Schedule: Sendable {
  /// A connected run of nodes on one device.
  package struct Segment: Sendable {
    package let device: String
    /// Its inputs and outputs are the values that cross its boundary.
    package let graph: Graph
    /// The same values in the whole graph.
    package let inputs: [ValueID]
    package let outputs: [ValueID]
  }

  /// A copy of a value from one device to another.
  package struct Transfer: Hashable, Sendable {
    package let value: ValueID
    package let from: String
    package let to: String
  }

  package enum Step: Hashable, Sendable {
    case run(segment: Int)
    case transfer(Transfer)
  }

  package let segments: [Segment]
  package let steps: [Step]

  /// - Parameters:
  ///   - placement: a device for every node, by name.
  ///   - transfers: the plan's copies; together with the placement they bring every value where it is needed.
  ///   - host: where inputs start and outputs end.
  ///   - isHost: whether a device computes on the calling thread. Others are started first, so that they overlap.
  package init(
    _ graph: Graph, placement: [String: String], transfers: [PlannedTransfer], host: String, isHost: (String) -> Bool
  ) throws(RuntimeError) {
    let copies = try Self.copies(graph, transfers)
    var partition = Partition()
    let producers = graph.producers()
    for (index, node) in graph.nodes.enumerated() {
      guard let device = placement[node.name] else {
        throw .invalidPlan("the plan has no device for '\(node.name)'; it was made for another model")
      }
      let before = Set(node.inputs.compactMap { producers[$0.index] }.map { partition.segment[$0] })
      partition.append(index, device, after: before)
    }
    segments = partition.members.enumerated().map { number, nodes in
      Self.extract(graph, nodes, partition.devices[number], keeping: partition.segment, number, copies)
    }
    steps = try Self.order(graph, segments, partition, copies, host, isHost)
  }

  private static func copies(_ graph: Graph, _ transfers: [PlannedTransfer]) throws(RuntimeError) -> [Transfer] {
    let ids = Dictionary(graph.values.enumerated().map { ($1.name, ValueID($0)) }) { first, _ in first }
    return try transfers.map { transfer throws(RuntimeError) in
      guard let value = ids[transfer.value] else {
        throw .invalidPlan("the plan copies '\(transfer.value)', which the model does not have")
      }
      return Transfer(value: value, from: transfer.from, to: transfer.to)
    }
  }

  /// The nodes of one segment as a graph of their own.
  private static func extract(
    _ graph: Graph, _ nodes: [Int], _ device: String, keeping segment: [Int], _ number: Int, _ copies: [Transfer]
  ) -> Segment {
    var produced = Set<ValueID>()
    var inputs: [ValueID] = []
    for index in nodes {
      for id in graph.nodes[index].inputs
      where graph[id].weight == nil && !produced.contains(id) && !inputs.contains(id) {
        inputs.append(id)
      }
      produced.formUnion(graph.nodes[index].outputs)
    }
    var leaving = Set(graph.outputs).union(copies.map(\.value))
    for (index, node) in graph.nodes.enumerated() where segment[index] != number { leaving.formUnion(node.inputs) }
    let outputs = nodes.flatMap { graph.nodes[$0].outputs }.filter(leaving.contains)
    var part = Graph()
    var addresses: [ValueID: ValueID] = [:]
    func address(_ id: ValueID) -> ValueID {
      if let known = addresses[id] { return known }
      let new = part.addValue(graph[id])
      addresses[id] = new
      return new
    }
    part.inputs = inputs.map(address)
    for index in nodes {
      var node = graph.nodes[index]
      node.inputs = node.inputs.map(address)
      node.outputs = node.outputs.map(address)
      part.nodes.append(node)
    }
    part.outputs = outputs.map(address)
    return Segment(device: device, graph: part, inputs: inputs, outputs: outputs)
  }

  /// Runs what is ready: first what can start without waiting on a device that works on its own, then what the host can
  /// compute meanwhile, and only then what has to wait. Copies happen just before the first reader needs them.
  private static func order(
    _ graph: Graph, _ segments: [Segment], _ partition: Partition, _ copies: [Transfer], _ host: String,
    _ isHost: (String) -> Bool
  ) throws(RuntimeError) -> [Step] {
    struct Location: Hashable {
      let value: ValueID
      let device: String
    }
    var present = Set(graph.inputs.map { Location(value: $0, device: host) })
    var steps: [Step] = []
    /// Segments that were started and that nobody has waited for.
    var pending = Set<Int>()

    func bring(_ value: ValueID, to device: String, _ visiting: Set<String> = []) throws(RuntimeError) {
      guard !present.contains(Location(value: value, device: device)) else { return }
      guard !visiting.contains(device), let copy = copies.first(where: { $0.value == value && $0.to == device }) else {
        throw .invalidPlan(
          "the plan never brings '\(graph[value].name)' to \(device); it was changed by hand or is stale")
      }
      try bring(value, to: copy.from, visiting.union([device]))
      steps.append(.transfer(copy))
      pending = pending.filter { segments[$0].device != copy.from || !segments[$0].outputs.contains(value) }
      present.insert(Location(value: value, device: device))
    }

    var remaining = Set(segments.indices)
    while !remaining.isEmpty {
      let ready = remaining.sorted().filter { partition.dependencies[$0].isDisjoint(with: remaining) }
      func waits(_ number: Int) -> Bool {
        partition.dependencies[number].contains {
          pending.contains($0) && segments[$0].device != segments[number].device
        }
      }
      guard
        let next = ready.first(where: { !isHost(segments[$0].device) && !waits($0) })
          ?? ready.first(where: { !waits($0) }) ?? ready.first(where: { !isHost(segments[$0].device) }) ?? ready.first
      else { preconditionFailure("segments depend on each other in a circle") }
      let segment = segments[next]
      for input in segment.inputs { try bring(input, to: segment.device) }
      steps.append(.run(segment: next))
      for output in segment.outputs { present.insert(Location(value: output, device: segment.device)) }
      remaining.remove(next)
      if !isHost(segment.device) { pending.insert(next) }
    }
    for output in graph.outputs.uniqued { try bring(output, to: host) }
    // Copies that no reader asked for: the plan counted them, so they are made.
    for copy in copies where !present.contains(Location(value: copy.value, device: copy.to)) {
      try bring(copy.value, to: copy.to)
    }
    return steps
  }
}

/// Groups nodes into segments without making two segments depend on each other.
private struct Partition {
  private(set) var members: [[Int]] = []
  private(set) var devices: [String] = []
  /// For each segment, the segments it reads from.
  private(set) var dependencies: [Set<Int>] = []
  /// For each node, its segment.
  private(set) var segment: [Int] = []
  private var open: [String: Int] = [:]

  /// Adds the next node in topological order to its device's current segment where that waits for everything the node
  /// waits for already, or to a new one: a segment never starts later for the sake of a node that joins it, so
  /// independent work on other devices overlaps it, and no two segments wait for each other.
  mutating func append(_ node: Int, _ device: String, after before: Set<Int>) {
    if let current = open[device], before.allSatisfy({ $0 == current || reaches(from: current, $0) }) {
      members[current].append(node)
      segment.append(current)
      return
    }
    open[device] = members.count
    segment.append(members.count)
    members.append([node])
    devices.append(device)
    dependencies.append(before)
  }

  /// Whether `start` depends, directly or not, on `goal`.
  private func reaches(from start: Int, _ goal: Int) -> Bool {
    var visited: Set<Int> = [start]
    var stack = [start]
    while let next = stack.popLast() {
      if next == goal { return true }
      for dependency in dependencies[next] where visited.insert(dependency).inserted { stack.append(dependency) }
    }
    return false
  }
}
