import KelvinDevices
import KelvinGraph

/// The memory of every slot of a segment.
struct StoragePlan {
  enum Place: Hashable {
    /// The caller's memory, by index.
    case input(Int)
    case output(Int)
    /// An offset in the invocation's scratch.
    case scratch(Int)
    /// The memory of a weight.
    case constant(ValueID)
    case none
  }

  /// For each slot of the program, its memory and its offset in that memory, in bytes.
  private(set) var places: [Place]
  private(set) var offsets: [Int]
  /// For each step, the offsets of its temporaries.
  private(set) var temporaries: [[Int]]
  /// For each chain, the values that only it uses. Their memory here serves sessions that run its steps one by one.
  let inner: [ElementChains.Inner]
  /// Bytes of scratch that slots and temporaries take.
  let byteCount: Int

  /// Slots that are part of one another share memory. An output of the segment is written directly to the caller's
  /// memory, unless it has to be converted or is an output twice.
  init(_ graph: Graph, _ program: CPUProgram) {
    let inputs = Set(graph.inputs.map(\.index))
    let anchors = SlotAnchors(program) { slot in
      inputs.contains(slot) || slot < graph.values.count && graph.values[slot].weight != nil
    }
    let placed = program.slots.indices.map { anchors[$0] }
    let roots = placed.map(\.slot)
    offsets = placed.map(\.offset)
    let lastReads = Self.lastReads(program, roots: roots)
    inner = program.chains.ranges.map { ElementChains.inner($0, of: program, lastReads: lastReads, roots: roots) }
    // Step i is at moment i + 1. A chain's values are alive during all of it, apart from the inner ones.
    let lastMoment = program.steps.count + 1
    var moments = (1..<lastMoment).map { $0...$0 }
    for range in program.chains.ranges {
      for index in range { moments[index] = range.lowerBound + 1...range.upperBound }
    }
    let innerSlots = Set(inner.flatMap(\.places).flatMap(\.keys))
    var uses = [ClosedRange<Int>?](repeating: nil, count: program.slots.count)
    func use(_ slot: Int, at moments: ClosedRange<Int>) {
      uses[roots[slot]] = (uses[roots[slot]]?.lowerBound ?? moments.lowerBound)...moments.upperBound
    }
    var places = [Place](repeating: .none, count: program.slots.count)
    for (index, value) in graph.values.enumerated() where value.weight != nil {
      places[index] = .constant(ValueID(index))
    }
    for (index, id) in graph.inputs.enumerated() {
      if graph[id].type.scalar == .float16 { use(id.index, at: 0...0) } else { places[id.index] = .input(index) }
    }
    for (index, step) in program.steps.enumerated() where step.kernel.viewOffset == nil {
      for slot in step.inputs + step.outputs {
        use(slot, at: innerSlots.contains(roots[slot]) ? index + 1...index + 1 : moments[index])
      }
    }
    for (index, slot) in program.outputs.enumerated() {
      let root = roots[slot]
      use(slot, at: lastMoment...lastMoment)
      let type = graph[graph.outputs[index]].type
      if places[root] == .none, type.scalar != .float16, program.slots[root].byteCount == type.innerByteCount {
        places[root] = .output(index)
      }
    }

    var lifetimes: [ArenaPlan.Lifetime] = []
    var owners: [Int] = []
    for (slot, range) in uses.enumerated() {
      guard let range, places[slot] == .none else { continue }
      // A value without elements has an address too.
      lifetimes.append(ArenaPlan.Lifetime(byteCount: max(program.slots[slot].byteCount, 1), steps: range))
      owners.append(slot)
    }
    for (index, step) in program.steps.enumerated() {
      for byteCount in step.kernel.temporaries {
        lifetimes.append(ArenaPlan.Lifetime(byteCount: byteCount, steps: moments[index]))
      }
    }
    let arena = ArenaPlan(lifetimes)
    for (position, owner) in owners.enumerated() { places[owner] = .scratch(arena.offsets[position]) }
    var next = owners.count
    temporaries = program.steps.map { step in
      defer { next += step.kernel.temporaries.count }
      return step.kernel.temporaries.indices.map { arena.offsets[next + $0] }
    }
    for index in places.indices { places[index] = places[roots[index]] }
    self.places = places
    byteCount = arena.byteCount
  }

  /// For each slot with its own memory, the last step that reads it or a part of it: -1 if none does, and `Int.max` for
  /// outputs. It is nil for parts.
  private static func lastReads(_ program: CPUProgram, roots: [Int]) -> [Int?] {
    var last = roots.indices.map { roots[$0] == $0 ? -1 : nil }
    for (index, step) in program.steps.enumerated() where step.kernel.viewOffset == nil {
      for slot in step.inputs { last[roots[slot]] = index }
    }
    for slot in program.outputs { last[roots[slot]] = .max }
    return last
  }
}
