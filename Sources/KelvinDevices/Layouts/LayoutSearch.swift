internal import KelvinGraph

/// Dynamic programming over the values that are still to be read. A state is the set of layouts in which each of
/// these values is available.
///
/// A value with the same layouts in all states is stored separately, so that the cost of a node does not depend on
/// unrelated values.
///
/// The result is optimal while at most `stateLimit` states exist at a time; beyond that the cheapest are kept.
struct LayoutSearch {
  static let stateLimit = 1024

  private struct State {
    /// For each varying value, the set of its layouts as bits.
    var held: [UInt8]
    var cost: Double
    /// The index of the state before the latest node, and the kernel chosen for it.
    var parent: Int
    var choice: Int
  }

  private let graph: Graph
  /// For each value, the last node that reads it.
  private let lastReaders: [Int?]
  private let outputs: Set<ValueID>
  private var layouts: [ValueLayout] = [.dense]
  /// For each value still to be read whose layouts are equal in all states, the set of its layouts as bits; 0 for
  /// others.
  private var common: [UInt8]
  /// The values still to be read whose layouts differ between states.
  private var varying: [ValueID] = []
  private var states: [State]
  private var history: [[(parent: Int, choice: Int)]] = []

  init(_ graph: Graph) {
    self.graph = graph
    let readers = graph.consumers()
    lastReaders = readers.map(\.last)
    outputs = Set(graph.outputs)
    common = Array(repeating: 0, count: graph.values.count)
    for input in graph.inputs where !readers[input.index].isEmpty { common[input.index] = 1 }
    states = [State(held: [], cost: 0, parent: 0, choice: 0)]
  }

  /// Advances all states by one node.
  mutating func advance(_ index: Int, _ implementations: [LayoutPlan.Implementation]) {
    let node = graph.nodes[index]
    // The layouts of this node's inputs may begin to differ between states.
    let touched = node.inputs.filter { common[$0.index] != 0 }
    let before = varying + Set(touched).sorted()
    let alike = before[varying.count...].map { common[$0.index] }
    let places = Dictionary(uniqueKeysWithValues: zip(before, before.indices))
    let staying = before.indices.filter { (lastReaders[before[$0].index] ?? -1) > index }
    let made = node.outputs.indices.filter { lastReaders[node.outputs[$0].index] != nil }
    let reads = implementations.map { implementation in
      node.inputs.enumerated().compactMap { position, id in
        places[id].map { (place: $0, shape: graph[id].type.shape, bit: bit(implementation.layouts.read(position))) }
      }
    }
    let writes = implementations.map { implementation in
      node.outputs.indices.map { bit(implementation.layouts.write($0)) }
    }
    var next: [State] = []
    var known: [[UInt8]: Int] = [:]
    for (parent, state) in states.enumerated() {
      for (choice, implementation) in implementations.enumerated() {
        var (held, cost) = (state.held + alike, state.cost + implementation.extraCost)
        for read in reads[choice] where held[read.place] & (1 << read.bit) == 0 {
          cost += moving(read.shape, held[read.place], to: read.bit)
          held[read.place] |= 1 << read.bit
        }
        var result = staying.map { held[$0] }
        var isMade = made[...]
        for position in node.outputs.indices {
          let (id, bit) = (node.outputs[position], writes[choice][position])
          var bits: UInt8 = 1 << bit
          if outputs.contains(id), bit != 0 {
            cost += moving(graph[id].type.shape, bits, to: 0)
            bits |= 1
          }
          if isMade.first == position {
            isMade.removeFirst()
            result.append(bits)
          }
        }
        let new = State(held: result, cost: cost, parent: parent, choice: choice)
        if let place = known[result] {
          if cost < next[place].cost { next[place] = new }
        } else {
          known[result] = next.count
          next.append(new)
        }
      }
    }
    if next.count > Self.stateLimit {
      let order = next.indices.sorted { (next[$0].cost, $0) < (next[$1].cost, $1) }
      next = order.prefix(Self.stateLimit).map { next[$0] }
    }
    history.append(next.map { ($0.parent, $0.choice) })
    for id in touched { common[id.index] = 0 }
    settle(staying.map { before[$0] } + made.map { node.outputs[$0] }, next)
  }

  /// Continues with states of these values, and separates values whose layouts are equal in all states.
  private mutating func settle(_ values: [ValueID], _ next: [State]) {
    states = next
    let differing = values.indices.filter { place in next.contains { $0.held[place] != next[0].held[place] } }
    varying = differing.map { values[$0] }
    guard differing.count < values.count else { return }
    for (place, id) in values.enumerated() { common[id.index] = next[0].held[place] }
    for id in varying { common[id.index] = 0 }
    for index in states.indices { states[index].held = differing.map { next[index].held[$0] } }
  }

  /// The cheapest choices for all nodes so far.
  var best: (choices: [Int], cost: Double) {
    var place = 0
    for index in states.indices where states[index].cost < states[place].cost { place = index }
    let cost = states[place].cost
    var choices: [Int] = []
    for step in history.reversed() {
      choices.append(step[place].choice)
      place = step[place].parent
    }
    return (choices.reversed(), cost)
  }

  private func moving(_ shape: Shape, _ held: UInt8, to bit: Int) -> Double {
    var cost = Double.infinity
    for from in layouts.indices where held & (1 << from) != 0 {
      cost = min(cost, LayoutPlan.cost(shape, from: layouts[from], to: layouts[bit]))
    }
    return cost
  }

  private mutating func bit(_ layout: ValueLayout) -> Int {
    if let bit = layouts.firstIndex(of: layout) { return bit }
    precondition(layouts.count < UInt8.bitWidth, "a segment with more than eight layouts")
    layouts.append(layout)
    return layouts.count - 1
  }
}
