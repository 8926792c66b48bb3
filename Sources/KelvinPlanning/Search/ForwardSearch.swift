/// Dynamic programming over the frontier, from the first node to the last: the counterpart of `BackwardSearch`, for
/// costs that need both sides of a cut.
///
/// A state gives every live value the set of devices that hold a copy; its cost is the least cost of everything before
/// the cut. A node on `d` makes each of its inputs reach `d`, possibly by a relay whose copies then remain.
struct ForwardSearch {
  let index: ProblemIndex
  let costs: CopyCosts
  let frontier: Frontier
  let seconds: [Double]

  private struct Input {
    var value: Int
    var slot: Int
    var table: Int
    /// The host, for a graph input at its first consumer.
    var initial: Int
    var wasLive: Bool
    var isLast: Bool
    /// Needed besides the node's device: the host, for an output at its last consumer.
    var also: Int
  }

  /// Ways to grow several inputs at once are enumerated up to this many per state and device.
  private static let combinations = 64

  /// - Returns: the layers, or `nil` when no state is left.
  func run(budget: Int) -> Layers? {
    var layers = Layers(words: frontier.words, keepsKeys: true)
    var table = StateTable(words: frontier.words)
    var dominance = Dominance(costs, frontier, isBackward: false)
    var width = SearchBudget(budget, steps: index.nodeCount, devices: index.deviceCount, words: frontier.words)
    for position in 0..<index.nodeCount {
      let node = index.order[position]
      table.removeAll()
      let complete = expand(node, at: position, layers, into: &table)
      for value in index.inputs(of: node) where frontier.slot[value] >= 0 && frontier.last[value] != position {
        dominance.occupy(frontier.slot[value], with: value)
      }
      for value in index.outputs(of: node) where frontier.slot[value] >= 0 {
        dominance.occupy(frontier.slot[value], with: value)
      }
      let (kept, truncated, work) = dominance.survivors(of: table, width: width.width)
      width.spend(states: layers.frontCosts.count, comparisons: work)
      if kept.isEmpty { return nil }
      layers.isTruncated = layers.isTruncated || truncated || !complete
      layers.append(kept, of: table)
    }
    return layers
  }

  private func expand(_ node: Int, at position: Int, _ layers: Layers, into table: inout StateTable) -> Bool {
    let sets = costs.sets
    let slotMask = UInt64(sets - 1)
    let hostSet = 1 << index.host
    let words = frontier.words
    let inputs = index.inputs(of: node).map { value in
      let isFirst = frontier.first[value] == position
      let isLast = frontier.last[value] == position
      return Input(
        value: value, slot: frontier.slot[value], table: costs.table(of: value), initial: hostSet, wasLive: !isFirst,
        isLast: isLast, also: isLast && index.isOutput[value] ? hostSet : 0)
    }
    let born = index.outputs(of: node).filter { frontier.slot[$0] >= 0 }
    let delivered = index.outputs(of: node).filter { frontier.slot[$0] < 0 && index.isOutput[$0] }
    let choices = (0..<index.deviceCount).filter { seconds[node * index.deviceCount + $0].isFinite }
    var isComplete = true
    var base = Array(repeating: UInt64(0), count: words)
    var held = Array(repeating: 0, count: inputs.count)
    for state in layers.frontCosts.indices {
      for word in 0..<words { base[word] = layers.frontKeys[state * words + word] }
      for (i, input) in inputs.enumerated() {
        guard input.wasLive else {
          held[i] = input.initial
          continue
        }
        let word = frontier.word(input.slot)
        let shift = frontier.shift(input.slot)
        held[i] = Int(base[word] >> shift & slotMask)
        base[word] &= ~(slotMask << shift)
      }
      for device in choices {
        var total = layers.frontCosts[state] + seconds[node * index.deviceCount + device]
        for value in delivered {
          total += costs.reachTable[costs.table(of: value) + (1 << device) * sets + hostSet]
        }
        var ways: [(key: [UInt64], cost: Double)] = [(base, total)]
        for value in born {
          ways[0].key[frontier.word(frontier.slot[value])] |= UInt64(1 << device) << frontier.shift(frontier.slot[value])
        }
        for (i, input) in inputs.enumerated() {
          if input.isLast {
            let cost = costs.reachTable[input.table + held[i] * sets + (input.also | 1 << device)]
            for way in ways.indices { ways[way].cost += cost }
            continue
          }
          let word = frontier.word(input.slot)
          let shift = frontier.shift(input.slot)
          var growths = costs.growths(of: input.value, from: held[i], toward: device)
          if growths.count * ways.count > Self.combinations {
            isComplete = false
            growths = growths.min { $0.cost < $1.cost }.map { [$0] } ?? []
          }
          ways = ways.flatMap { way in
            growths.map { growth in
              var grown = way
              grown.key[word] |= UInt64(growth.set) << shift
              grown.cost += growth.cost
              return grown
            }
          }
        }
        for way in ways where way.cost.isFinite {
          table.insert(way.key, cost: way.cost, parent: state, device: device)
        }
      }
    }
    return isComplete
  }
}
