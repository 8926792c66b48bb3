internal import KelvinGraph

/// Dynamic programming over the values that are still to be read: a state is the set of layouts in which each of them
/// lies.
///
/// Exact while no more than `stateLimit` states are open at a time; beyond that the cheapest are kept.
struct LayoutSearch {
  static let stateLimit = 1024

  private struct State {
    /// For each live value, the set of its layouts as bits.
    var held: [UInt8]
    var cost: Double
    /// The state before the latest node, among those open then, and the kernel taken.
    var parent: Int
    var choice: Int
  }

  private let graph: Graph
  /// For each value, the last node that reads it.
  private let lastReaders: [Int?]
  private let outputs: Set<ValueID>
  private var layouts: [ValueLayout] = [.dense]
  private var live: [ValueID]
  private var states: [State]
  private var history: [[(parent: Int, choice: Int)]] = []

  init(_ graph: Graph) {
    self.graph = graph
    let readers = graph.consumers()
    lastReaders = readers.map(\.last)
    outputs = Set(graph.outputs)
    let live = graph.inputs.filter { !readers[$0.index].isEmpty }
    self.live = live
    states = [State(held: live.map { _ in 1 }, cost: 0, parent: 0, choice: 0)]
  }

  /// Goes past one node.
  mutating func advance(_ index: Int, _ ways: [LayoutPlan.Way]) {
    let node = graph.nodes[index]
    let places = Dictionary(zip(live, live.indices)) { first, _ in first }
    let staying = live.indices.filter { (lastReaders[live[$0].index] ?? -1) > index }
    let made = node.outputs.indices.filter { lastReaders[node.outputs[$0].index] != nil }
    let reads = ways.map { way in
      node.inputs.enumerated().compactMap { position, id in
        places[id].map { (place: $0, shape: graph[id].type.shape, bit: bit(way.layouts.read(position))) }
      }
    }
    let writes = ways.map { way in node.outputs.indices.map { bit(way.layouts.write($0)) } }
    var next: [State] = []
    var known: [[UInt8]: Int] = [:]
    for (parent, state) in states.enumerated() {
      for (choice, way) in ways.enumerated() {
        var (held, cost) = (state.held, state.cost + way.handicap)
        for read in reads[choice] where held[read.place] & (1 << read.bit) == 0 {
          cost += moving(read.shape, held[read.place], to: read.bit)
          held[read.place] |= 1 << read.bit
        }
        var result = staying.map { held[$0] }
        for position in node.outputs.indices {
          let (id, bit) = (node.outputs[position], writes[choice][position])
          var bits: UInt8 = 1 << bit
          if outputs.contains(id), bit != 0 {
            cost += moving(graph[id].type.shape, bits, to: 0)
            bits |= 1
          }
          if made.contains(position) { result.append(bits) }
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
    live = staying.map { live[$0] } + made.map { node.outputs[$0] }
    states = next
  }

  /// The cheapest way past all nodes so far.
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
