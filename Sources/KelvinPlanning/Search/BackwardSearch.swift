/// Dynamic programming over the frontier, from the last node to the first.
///
/// A state assigns to every live value the set of devices that still need a copy. Its cost is the least cost of
/// everything after the cut. Placing node `n` on `d` adds `seconds(n, d)`, adds `d` to the sets of its inputs, and
/// settles its outputs. Each output pays the Steiner arborescence from `d` to the set that needs it. A graph input is
/// settled from the host at its first consumer. The search is exact unless a state is discarded for width.
struct BackwardSearch {
  let index: ProblemIndex
  let costs: CopyCosts
  let frontier: Frontier
  /// `node * devices + device`, infinite where forbidden.
  let seconds: [Double]

  private struct Input {
    var slot: Int
    var table: Int
    /// Devices that need the value in any case: the host, for an output at its last consumer.
    var initial: Int
    var wasLive: Bool
    /// Whether this is a graph input at its first consumer.
    var settles: Bool
  }

  private struct Output {
    var slot: Int
    var table: Int
    var initial: Int
  }

  /// - Parameter mustBeExact: whether to return `nil` as soon as a state is discarded for width.
  /// - Returns: the layers, or `nil` when no state is left after some were discarded for width.
  /// - Throws: `infeasible`, naming the node at which no state is left.
  func run(budget: Int, keepsStates: Bool, mustBeExact: Bool = false) throws(PlanningError) -> Layers? {
    var layers = Layers(words: frontier.words, keepsKeys: keepsStates)
    var table = StateTable(words: frontier.words)
    var dominance = Dominance(costs, frontier, isBackward: true)
    var width = SearchBudget(budget, index, words: frontier.words)
    for position in stride(from: index.nodeCount - 1, through: 0, by: -1) {
      let node = index.order[position]
      table.removeAll()
      expand(node, at: position, layers, into: &table)
      for value in index.inputs(of: node) where frontier.slot[value] >= 0 {
        if index.producer[value] < 0, frontier.first[value] == position { continue }
        dominance.occupy(frontier.slot[value], with: value)
      }
      let (kept, truncated, work) = dominance.survivors(of: table, width: width.width)
      width.spend(node: node, states: layers.frontCosts.count, comparisons: work)
      if kept.isEmpty {
        if layers.isTruncated { return nil }
        throw LatencySearch.unreachable(index, node)
      }
      layers.isTruncated = layers.isTruncated || truncated
      if mustBeExact, truncated { return nil }
      layers.append(kept, of: table)
    }
    return layers
  }

  private func expand(_ node: Int, at position: Int, _ layers: Layers, into table: inout StateTable) {
    let sets = costs.sets
    let slotMask = UInt64(sets - 1)
    let hostSet = 1 << index.host
    let words = frontier.words
    var inputs: [Input] = []
    for value in index.inputs(of: node) {
      let isLast = frontier.last[value] == position
      inputs.append(
        Input(
          slot: frontier.slot[value], table: costs.table(of: value),
          initial: isLast && index.isOutput[value] ? hostSet : 0, wasLive: !isLast,
          settles: index.producer[value] < 0 && frontier.first[value] == position))
    }
    var outputs: [Output] = []
    for value in index.outputs(of: node) {
      let slot = frontier.slot[value]
      if slot < 0, !index.isOutput[value] { continue }
      outputs.append(Output(slot: slot, table: costs.table(of: value), initial: hostSet))
    }
    let choices = (0..<index.deviceCount).filter { seconds[node * index.deviceCount + $0].isFinite }
    var cleared = Array(repeating: UInt64(0), count: words)
    var key = cleared
    var needed = Array(repeating: 0, count: inputs.count)
    var settled = Array(repeating: 0, count: outputs.count)
    for state in layers.frontCosts.indices {
      let cost = layers.frontCosts[state]
      for word in 0..<words { cleared[word] = layers.frontKeys[state * words + word] }
      for (i, output) in outputs.enumerated() {
        if output.slot < 0 {
          settled[i] = output.initial
          continue
        }
        let word = frontier.word(output.slot)
        let shift = frontier.shift(output.slot)
        settled[i] = Int(cleared[word] >> shift & slotMask)
        cleared[word] &= ~(slotMask << shift)
      }
      for (i, input) in inputs.enumerated() {
        guard input.wasLive else {
          needed[i] = input.initial
          continue
        }
        let word = frontier.word(input.slot)
        let shift = frontier.shift(input.slot)
        needed[i] = Int(cleared[word] >> shift & slotMask)
        cleared[word] &= ~(slotMask << shift)
      }
      for device in choices {
        var total = cost + seconds[node * index.deviceCount + device]
        for (i, output) in outputs.enumerated() {
          total += costs.reachTable[output.table + (1 << device) * sets + settled[i]]
        }
        for word in 0..<words { key[word] = cleared[word] }
        for (i, input) in inputs.enumerated() {
          let set = needed[i] | 1 << device
          if input.settles {
            total += costs.reachTable[input.table + hostSet * sets + set]
          } else {
            key[frontier.word(input.slot)] |= UInt64(set) << frontier.shift(input.slot)
          }
        }
        if total.isFinite { table.insert(key, cost: total, parent: state, device: device) }
      }
    }
  }

  /// Returns the device of every node in the best final state.
  func placement(_ layers: Layers) -> [Int] {
    var devices = Array(repeating: 0, count: index.nodeCount)
    layers.trace(index.nodeCount, 0) { layer, device in devices[index.order[index.nodeCount - layer]] = device }
    return devices
  }
}
