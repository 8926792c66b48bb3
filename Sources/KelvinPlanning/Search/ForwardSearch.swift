/// Dynamic programming over the frontier, from the first node to the last: the counterpart of `BackwardSearch`, for
/// costs that need both sides of a cut.
///
/// A state assigns to every live value the set of devices that hold a copy. Its cost is the least cost of everything
/// before the cut. A node on `d` brings each of its inputs to `d`, possibly by a relay whose copies then remain.
struct ForwardSearch {
  let index: ProblemIndex
  let costs: CopyCosts
  let frontier: Frontier
  let seconds: [Double]

  private struct Input {
    var slot: Int
    var table: Int
    /// The devices that hold the value: the host, for a graph input at its first consumer.
    var initial: Int
    var wasLive: Bool
    var isLast: Bool
    /// Devices that need the value besides the node's: the host, for an output at its last consumer.
    var also: Int
  }

  /// - Returns: the layers, or `nil` when no state is left.
  func run(budget: Int) -> Layers? {
    var layers = Layers(words: frontier.words, keepsKeys: true)
    var table = StateTable(words: frontier.words)
    var dominance = Dominance(costs, frontier, isBackward: false)
    var width = SearchBudget(budget, index, words: frontier.words)
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
      width.spend(node: node, states: layers.frontCosts.count, comparisons: work)
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
        slot: frontier.slot[value], table: costs.table(of: value), initial: hostSet, wasLive: !isFirst,
        isLast: isLast, also: isLast && index.isOutput[value] ? hostSet : 0)
    }
    let born = index.outputs(of: node).filter { frontier.slot[$0] >= 0 }
    let delivered = index.outputs(of: node).filter { frontier.slot[$0] < 0 && index.isOutput[$0] }
    let choices = (0..<index.deviceCount).filter { seconds[node * index.deviceCount + $0].isFinite }
    var isComplete = true
    var base = Array(repeating: UInt64(0), count: words)
    var held = Array(repeating: 0, count: inputs.count)
    var ways = Transitions(words: words)
    var growths: [(set: Int, cost: Double)] = []
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
        ways.start(base, cost: total)
        for value in born {
          ways.add(1 << device, word: frontier.word(frontier.slot[value]), shift: frontier.shift(frontier.slot[value]))
        }
        for (i, input) in inputs.enumerated() {
          if input.isLast {
            ways.charge(costs.reachTable[input.table + held[i] * sets + (input.also | 1 << device)])
            continue
          }
          costs.growths(at: input.table, from: held[i], toward: device, into: &growths)
          isComplete =
            ways.grow(growths, word: frontier.word(input.slot), shift: frontier.shift(input.slot)) && isComplete
        }
        for way in 0..<ways.count where ways.costs[way].isFinite {
          table.insert(ways.keys, from: way * words, cost: ways.costs[way], parent: state, device: device)
        }
      }
    }
    return isComplete
  }
}

/// The successors of one state for one device: a single one unless a copy may take several routes.
private struct Transitions {
  let words: Int
  private(set) var keys: [UInt64] = []
  private(set) var costs: [Double] = []
  private static let limit = 64

  init(words: Int) { self.words = words }

  var count: Int { costs.count }

  mutating func start(_ key: [UInt64], cost: Double) {
    keys.removeAll(keepingCapacity: true)
    keys.append(contentsOf: key)
    costs.removeAll(keepingCapacity: true)
    costs.append(cost)
  }

  mutating func add(_ set: Int, word: Int, shift: UInt64) {
    for way in costs.indices { keys[way * words + word] |= UInt64(set) << shift }
  }

  mutating func charge(_ cost: Double) {
    for way in costs.indices { costs[way] += cost }
  }

  /// Combines every transition with every growth of one more value.
  ///
  /// - Returns: false when there would be too many; then each transition takes only the cheapest growth.
  mutating func grow(_ growths: [(set: Int, cost: Double)], word: Int, shift: UInt64) -> Bool {
    guard let cheapest = growths.min(by: { $0.cost < $1.cost }) else {
      charge(.infinity)
      return true
    }
    if growths.count == 1 || growths.count * count > Self.limit {
      add(cheapest.set, word: word, shift: shift)
      charge(cheapest.cost)
      return growths.count == 1
    }
    let before = count
    for growth in growths.dropFirst() {
      for way in 0..<before {
        for i in 0..<words { keys.append(keys[way * words + i]) }
        keys[keys.count - words + word] |= UInt64(growth.set) << shift
        costs.append(costs[way] + growth.cost)
      }
    }
    for way in 0..<before {
      keys[way * words + word] |= UInt64(growths[0].set) << shift
      costs[way] += growths[0].cost
    }
    return true
  }
}
