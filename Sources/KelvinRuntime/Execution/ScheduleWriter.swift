import KelvinGraph
import KelvinPlanning

/// Orders a placed graph block by block.
struct ScheduleWriter {
  private(set) var segments: [Schedule.Run] = []
  private let flat: FlatGraph
  private let graph: Graph
  private let placement: [String: String]
  private let copies: [Schedule.Transfer]
  /// The first copy of each value to each device, and the indices in `copies` of each value's copies.
  private let copyTo: [Location: Schedule.Transfer]
  private let copiesOf: [ValueID: [Int]]
  private let host: String
  /// For each node, its group in a numbering of the groups of all blocks.
  private var groupOfNode: [Int]
  private var groupCount = 0
  /// For each value, whether it leaves the segment that computes it; if not, the only group that reads it, if any.
  private var leaves: [Bool] = []
  private var reader: [Int?] = []
  /// For each value with memory of its own, all values that use that memory.
  private let sharing: [ValueID: [ValueID]]
  private let devices: Set<String>
  private let isHost: (String) -> Bool
  private let costs: OverlapCosts?
  private var present = Presence()

  private struct Location: Hashable {
    let value: ValueID
    let device: String
  }

  /// The devices that hold each value after the steps written so far.
  private struct Presence {
    private var locations: Set<Location> = []
    /// The locations in insertion order.
    private(set) var added: [Location] = []

    func contains(_ location: Location) -> Bool { locations.contains(location) }

    mutating func insert(_ location: Location) {
      if locations.insert(location).inserted { added.append(location) }
    }

    /// Removes all but the first `count` locations.
    mutating func keep(_ count: Int) {
      for location in added[count...] { locations.remove(location) }
      added.removeSubrange(count...)
    }
  }

  init(
    _ flat: FlatGraph, _ placement: [String: String], _ transfers: [PlannedTransfer], _ host: String,
    isHost: @escaping (String) -> Bool, _ costs: OverlapCosts?
  ) throws(RuntimeError) {
    self.flat = flat
    self.isHost = isHost
    self.costs = costs
    graph = flat.graph
    self.placement = placement
    self.host = host
    sharing = Dictionary(grouping: graph.values.indices.map { ValueID($0) }) { flat.memory[$0.index] }
    devices = Set(placement.values).union([host] + transfers.flatMap { [$0.from, $0.to] })
    let signals = Set(flat.controls.map(\.signal))
    let ids = Dictionary(graph.values.enumerated().map { ($1.name, ValueID($0)) }) { first, _ in first }
    // Signals are the plan's cost of starting devices; no value is copied.
    copies = try transfers.filter { !signals.contains($0.value) }.map { transfer throws(RuntimeError) in
      guard let value = ids[transfer.value] else {
        throw .invalidPlan("the plan copies '\(transfer.value)', which the model does not have")
      }
      return Schedule.Transfer(value: value, from: transfer.from, to: transfer.to)
    }
    copyTo = Dictionary(copies.map { (Location(value: $0.value, device: $0.to), $0) }) { first, _ in first }
    copiesOf = Dictionary(grouping: copies.indices) { [copies] in copies[$0].value }
    groupOfNode = Array(repeating: -1, count: graph.nodes.count)
    for name in flat.placedNames where placement[name] == nil {
      throw .invalidPlan("the plan has no device for '\(name)'; it was made for another model")
    }
    for tie in flat.ties.pairs where placement[tie.first] != placement[tie.second] {
      throw .invalidPlan(
        "'\(tie.first)' and '\(tie.second)' share memory, and the plan puts them on \(device(tie.first)) and "
          + "\(device(tie.second))")
    }
  }

  mutating func write() throws(RuntimeError) -> [Schedule.Step] {
    for input in graph.inputs { present.insert(Location(value: input, device: host)) }
    for source in flat.sources { present.insert(Location(value: source.value, device: device(source.name))) }
    let parts = partition(flat.root)
    findLeaving()
    let given = Set(graph.inputs + flat.sources.map(\.value))
    return try order(flat.root, parts, given: given, results: graph.outputs.uniqued)
  }

  private func device(_ name: String) -> String { placement[name] ?? host }

  /// The groups of a block, and of the blocks inside its control flow in order. All nodes are grouped before any
  /// segment is extracted, because readers anywhere determine which values leave a segment.
  private struct BlockPartition {
    var partition = Partition()
    /// The values that the block reads without computing them, each with the reading device, in the order of their
    /// readers.
    var needs: [Location] = []
    /// For each item, the values that it reads and that are computed outside it.
    var itemNeeds: [[Location]] = []
    /// For each group, the index of its control-flow item; nil for a segment.
    var control: [Int: Int] = [:]
    var inner: [BlockPartition] = []
    /// The number of the block's first group among the groups of all blocks.
    var base = 0
  }

  private mutating func partition(_ block: FlatGraph.Block) -> BlockPartition {
    var result = BlockPartition()
    for item in block.items {
      var inner: [BlockPartition] = []
      switch item {
      case .node: break
      case .branch(let branch): inner = [partition(branch.then.block), partition(branch.otherwise.block)]
      case .loop(let loop): inner = [partition(loop.body)]
      }
      result.itemNeeds.append(needs(of: item, inner))
      result.inner += inner
    }
    result.needs = besides(result.itemNeeds.joined(), Set(block.items.flatMap(definitions)))
    let (items, order) = items(of: block, result.itemNeeds)
    let overlap = work(block).flatMap { OverlapSearch(items, order, $0) }
    result.partition = overlap?.best() ?? Partition(items, order: order)
    result.base = groupCount
    groupCount += result.partition.members.count
    for (group, members) in result.partition.members.enumerated() {
      for member in members {
        if case .node(let index) = block.items[member] {
          groupOfNode[index] = result.base + group
        } else {
          result.control[group] = member
        }
      }
    }
    return result
  }

  /// Returns the items of a block for its partition, and their order: nodes that overwrite memory that others read come
  /// last.
  private func items(
    of block: FlatGraph.Block, _ needs: [[Location]]
  ) -> (items: [Partition.Item], order: [Int]) {
    func isLast(_ item: FlatGraph.Item) -> Bool {
      if case .node(let index) = item { flat.places[index].isLast } else { false }
    }
    let isLate = block.items.map(isLast)
    let order = isLate.indices.filter { !isLate[$0] } + isLate.indices.filter { isLate[$0] }
    var definer: [ValueID: Int] = [:]
    var before: [Set<Int>] = Array(repeating: [], count: block.items.count)
    for number in order {
      before[number] = Set(needs[number].compactMap { definer[$0.value] })
      if case .loop(let loop) = block.items[number] {
        before[number].formUnion(loop.carried.compactMap { definer[$0.value] })
      }
      for value in definitions(block.items[number]) { definer[value] = number }
    }
    let items = block.items.enumerated().map { number, item in
      let device =
        switch item {
        // They form a segment of their own.
        case .node(let index): self.device(graph.nodes[index].name) + (isLate[number] ? " last" : "")
        case .branch(let branch): "branch \(branch.name)"
        case .loop(let loop): "loop \(loop.name)"
        }
      return Partition.Item(device: device, before: before[number], isLast: isLate[number])
    }
    return (items, order)
  }

  /// Returns the work of each item of a block; nil if it is unknown. The time of control flow is taken as zero.
  private func work(_ block: FlatGraph.Block) -> [OverlapSearch.Work]? {
    guard let costs, Set(placement.values).count > 1 else { return nil }
    var work: [OverlapSearch.Work] = []
    for item in block.items {
      var (device, seconds) = (host, 0.0)
      if case .node(let index) = item {
        device = self.device(graph.nodes[index].name)
        guard let known = costs.seconds(graph.nodes[index], graph, device) else { return nil }
        seconds = known
      }
      work.append(
        OverlapSearch.Work(
          resource: costs.resources[device] ?? device, runsOnHost: isHost(device),
          isReadLate: costs.late.contains(device), seconds: seconds))
    }
    return work
  }

  /// Finds the values that leave their segments, once all nodes have groups.
  private mutating func findLeaving() {
    leaves = Array(repeating: false, count: graph.values.count)
    reader = Array(repeating: nil, count: graph.values.count)
    for value in graph.results + flat.hostReads + copies.map(\.value) { leaves[value.index] = true }
    for (node, group) in zip(graph.nodes, groupOfNode) {
      for value in node.inputs {
        if let known = reader[value.index], known != group { leaves[value.index] = true }
        reader[value.index] = group
      }
    }
    // Values that share memory are written for readers in other segments.
    for (index, root) in flat.memory.enumerated() where root.index != index {
      (leaves[index], leaves[root.index]) = (true, true)
    }
  }

  /// Extracts the nodes of one segment as a graph of their own.
  private func extract(_ nodes: [Int], _ group: Int) -> Schedule.Run {
    var produced = Set<ValueID>()
    var inputs: [ValueID] = []
    for index in nodes {
      for id in graph.nodes[index].inputs where graph[id].weight == nil && !produced.contains(id) { inputs.append(id) }
      produced.formUnion(graph.nodes[index].outputs)
    }
    inputs = inputs.uniqued
    let outputs = nodes.flatMap { graph.nodes[$0].outputs }.filter { value in
      leaves[value.index] || reader[value.index].map { $0 != group } ?? false
    }
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
    return Schedule.Run(
      device: device(graph.nodes[nodes[0]].name), graph: part, inputs: inputs, outputs: outputs,
      overwrites: flat.places[nodes[0]].isLast)
  }

  /// Orders the groups of a block as `GroupScheduler` chooses them. Copies precede the first reader that needs them;
  /// values that control flow reads from outside are copied before it begins.
  ///
  /// - Parameters:
  ///   - given: the values that the block has without defining them.
  ///   - results: the values that must be on the host at the end.
  private mutating func order(
    _ block: FlatGraph.Block, _ parts: BlockPartition, given: Set<ValueID>, results: [ValueID]
  ) throws(RuntimeError) -> [Schedule.Step] {
    let partition = parts.partition
    /// The segment of each group; nil for control flow.
    var numbers = [Int?](repeating: nil, count: partition.members.count)
    /// The group that computes each value that leaves its segment.
    var makers: [ValueID: Int] = [:]
    for (group, members) in partition.members.enumerated() where parts.control[group] == nil {
      let nodes = members.compactMap { if case .node(let index) = block.items[$0] { index } else { nil } }
      numbers[group] = segments.count
      segments.append(extract(nodes, parts.base + group))
      for output in segments[segments.count - 1].outputs { makers[output] = group }
    }
    var turns = GroupScheduler(partition) { group in numbers[group].map { isHost(segments[$0].device) } ?? true }
    var steps: [Schedule.Step] = []

    func bring(_ value: ValueID, to device: String, _ visiting: Set<String> = []) throws(RuntimeError) {
      let location = Location(value: value, device: device)
      guard graph[value].weight == nil, !present.contains(location) else { return }
      guard !visiting.contains(device), let copy = copyTo[location] else {
        throw .invalidPlan(
          "the plan never copies '\(graph[value].name)' to \(device); it was edited or is stale")
      }
      try bring(value, to: copy.from, visiting.union([device]))
      steps.append(.transfer(copy))
      if let maker = makers[value], let segment = numbers[maker], segments[segment].device == copy.from {
        turns.waitedFor(maker)
      }
      present.insert(location)
    }

    // The nested blocks were partitioned in the order of the items.
    var innerStart: [Int: Int] = [:]
    var next = 0
    for (number, item) in block.items.enumerated() {
      innerStart[number] = next
      switch item {
      case .node: break
      case .branch: next += 2
      case .loop: next += 1
      }
    }
    for _ in partition.members.indices {
      guard let group = turns.next() else { preconditionFailure("segments depend on each other in a circle") }
      if let number = parts.control[group] {
        for need in parts.itemNeeds[number] { try bring(need.value, to: need.device) }
        let inner = parts.inner[(innerStart[number] ?? 0)...]
        steps.append(try control(block.items[number], inner))
        turns.finished(group, isPending: false)
        continue
      }
      guard let number = numbers[group] else { preconditionFailure("a group is neither segment nor control flow") }
      let segment = segments[number]
      for input in segment.inputs { try bring(input, to: segment.device) }
      steps.append(.run(segment: number))
      for output in segment.outputs { present.insert(Location(value: output, device: segment.device)) }
      turns.finished(group, isPending: !isHost(segment.device))
    }
    for result in results { try bring(result, to: host) }
    // The plan also counted copies without a reader: make them too.
    let own = given.union(definitions(block))
    for index in own.flatMap({ copiesOf[$0] ?? [] }).sorted() {
      try bring(copies[index].value, to: copies[index].to)
    }
    return steps
  }

  /// Returns the values that belong to a block: those its nodes compute, and the results of its control flow.
  /// Excluded are values carried by a loop in it, which are copied in each iteration, and values it computes for the
  /// enclosing block.
  private func definitions(_ block: FlatGraph.Block) -> Set<ValueID> {
    var own = Set<ValueID>()
    var others = Set<ValueID>()
    for item in block.items {
      switch item {
      case .node(let index): own.formUnion(graph.nodes[index].outputs.filter { !flat.handedOut.contains($0) })
      case .branch(let branch): own.formUnion(branch.results)
      case .loop(let loop):
        own.formUnion(loop.results + loop.rows.map(\.accumulated) + [loop.iterations])
        others.formUnion(loop.carried.map(\.value))
      }
    }
    return own.subtracting(others)
  }

  /// Returns the values that an item reads without computing them, with the reading device; includes the host reads
  /// of control flow.
  ///
  /// - Parameter inner: the blocks inside the item.
  private func needs(of item: FlatGraph.Item, _ inner: [BlockPartition]) -> [Location] {
    let inside = inner.lazy.flatMap(\.needs)
    switch item {
    case .node(let index):
      let device = device(graph.nodes[index].name)
      return besides(graph.nodes[index].inputs.map { Location(value: $0, device: device) }, [])
    case .branch(let branch):
      return besides([[Location(value: branch.condition, device: host)], Array(inside)].joined(), Set(branch.results))
    case .loop(let loop):
      let reads = [loop.limit, loop.condition, loop.nextCondition].compactMap { $0 } + loop.rows.map(\.row)
      return besides(
        [reads.map { Location(value: $0, device: host) }, Array(inside)].joined(),
        Set(definitions(item) + loop.carried.map(\.value) + loop.body.items.flatMap(definitions)))
    }
  }

  /// Returns the distinct reads of values that are neither constants nor in `inside`.
  private func besides(_ reads: some Sequence<Location>, _ inside: Set<ValueID>) -> [Location] {
    var seen: Set<Location> = []
    return reads.filter {
      graph[$0.value].weight == nil && !inside.contains($0.value) && seen.insert($0).inserted
    }
  }

  /// Returns the values that an item computes for its block.
  private func definitions(_ item: FlatGraph.Item) -> [ValueID] {
    switch item {
    case .node(let index): graph.nodes[index].outputs
    case .branch(let branch): branch.results
    case .loop(let loop): [loop.iteration, loop.iterations] + loop.results + loop.rows.map(\.accumulated)
    }
  }

  private mutating func control(
    _ item: FlatGraph.Item, _ inner: ArraySlice<BlockPartition>
  ) throws(RuntimeError) -> Schedule.Step {
    let before = present.added.count
    switch item {
    case .node: preconditionFailure("a node is not control flow")
    case .branch(let branch):
      var sides: [Schedule.Block] = []
      var left: [Location] = []
      for (arm, parts) in zip([branch.then, branch.otherwise], inner) {
        let steps = try order(arm.block, parts, given: [], results: [])
        for result in branch.results {
          let sharing = sharing[flat.memory[result.index]] ?? []
          for device in devices
          where sharing.contains(where: { present.contains(Location(value: $0, device: device)) }) {
            left.append(Location(value: result, device: device))
          }
        }
        present.keep(before)
        sides.append(Schedule.Block(steps, refusal: arm.refusal))
      }
      for location in left { present.insert(location) }
      return .branch(
        Schedule.Branch(name: branch.name, condition: branch.condition, then: sides[0], otherwise: sides[1]))
    case .loop(let loop):
      present.insert(Location(value: loop.iteration, device: host))
      let reads = ([loop.nextCondition].compactMap { $0 } + loop.rows.map(\.row)).filter { graph[$0].weight == nil }
      let given = Set([loop.iteration] + loop.carried.map(\.value))
      let steps = try order(loop.body, inner[inner.startIndex], given: given, results: reads)
      present.keep(before)
      for (result, carried) in zip(loop.results, loop.carried) {
        present.insert(Location(value: result, device: device(graph.nodes[carried.enter].name)))
      }
      for value in [loop.iterations] + loop.rows.map(\.accumulated) {
        present.insert(Location(value: value, device: host))
      }
      return .loop(
        Schedule.Loop(
          name: loop.name, limit: loop.limit, condition: loop.condition, nextCondition: loop.nextCondition,
          iteration: loop.iteration, iterations: loop.iterations, rows: loop.rows, body: Schedule.Block(steps)))
    }
  }
}
