import KelvinDevices
import KelvinGraph

/// Where every value of a segment lies.
struct StoragePlan {
  enum Place: Hashable {
    /// The caller's memory, by position.
    case input(Int)
    case output(Int)
    /// An offset in the invocation's scratch.
    case scratch(Int)
    /// The memory of a weight.
    case constant(ValueID)
    case none
  }

  /// For each value of the graph.
  private(set) var places: [Place]
  /// For each node, the offsets of its temporaries.
  private(set) var temporaries: [[Int]]
  /// Bytes of scratch that values and temporaries take.
  let byteCount: Int

  /// Values that alias one another share a place. A result that leaves the segment is written where the caller wants
  /// it, unless it has to be converted or leaves twice.
  init(_ graph: Graph, _ kernels: [CPUKernel]) {
    var roots = graph.values.indices.map { ValueID($0) }
    for (node, kernel) in zip(graph.nodes, kernels) where kernel.isAlias {
      roots[node.outputs[0].index] = roots[node.inputs[0].index]
    }
    let lastStep = graph.nodes.count + 1
    var steps = [ClosedRange<Int>?](repeating: nil, count: graph.values.count)
    func use(_ id: ValueID, at step: Int) {
      let root = roots[id.index].index
      steps[root] = (steps[root]?.lowerBound ?? step)...step
    }
    var places = [Place](repeating: .none, count: graph.values.count)
    for (index, value) in graph.values.enumerated() where value.weight != nil {
      places[index] = .constant(ValueID(index))
    }
    for (index, id) in graph.inputs.enumerated() {
      if graph[id].type.scalar == .float16 { use(id, at: 0) } else { places[id.index] = .input(index) }
    }
    for (index, node) in graph.nodes.enumerated() where !kernels[index].isAlias {
      for id in node.inputs + node.outputs { use(id, at: index + 1) }
    }
    for (index, id) in graph.outputs.enumerated() {
      let root = roots[id.index]
      use(id, at: lastStep)
      let isProduced = !graph.inputs.contains(root) && places[root.index] == .none
      if isProduced, graph[id].type.scalar != .float16 { places[root.index] = .output(index) }
    }

    var lifetimes: [ArenaPlan.Lifetime] = []
    var owners: [Int] = []
    for (index, range) in steps.enumerated() {
      guard let range, places[index] == .none else { continue }
      lifetimes.append(ArenaPlan.Lifetime(byteCount: graph.values[index].type.innerByteCount, steps: range))
      owners.append(index)
    }
    for (index, kernel) in kernels.enumerated() {
      for byteCount in kernel.temporaries {
        lifetimes.append(ArenaPlan.Lifetime(byteCount: byteCount, steps: (index + 1)...(index + 1)))
      }
    }
    let arena = ArenaPlan(lifetimes)
    for (slot, owner) in owners.enumerated() { places[owner] = .scratch(arena.offsets[slot]) }
    var next = owners.count
    temporaries = kernels.map { kernel in
      defer { next += kernel.temporaries.count }
      return kernel.temporaries.indices.map { arena.offsets[next + $0] }
    }
    for index in places.indices { places[index] = places[roots[index].index] }
    self.places = places
    byteCount = arena.byteCount
  }
}
