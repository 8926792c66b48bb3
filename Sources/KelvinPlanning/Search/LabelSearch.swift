/// Finds the least largest load by enumeration: dynamic programming over the frontier in which a state keeps every
/// vector of loads that no other beats in all of them.
///
/// A vector is dropped when, under some guide's weights, the lower bound of its final weighted sum reaches the largest
/// load of a known plan. The bound is its weighted sum plus the least weighted cost of the nodes still to be placed.
struct LabelSearch {
  struct Answer {
    /// A plan with a lower largest load than the known one.
    var better: BalancedPlan?
    /// Whether nothing was left out, so that no plan is lower than `better`, or than the known plan if `better` is nil.
    var isComplete: Bool
    var states: Int
  }

  private struct Guide {
    let weights: [Double]
    let costs: CopyCosts
    let forward: Layers
  }

  private let loads: Loads
  private let frontier: Frontier
  private let budget: Int
  private var guides: [Guide] = []
  private var index: ProblemIndex { loads.index }
  private static let mostNodes = 4_096
  private static let mostDevices = 4
  private static let mostUnitGuides = 4
  /// The approximate elementary moves of one label, and the labels that a step keeps even without budget.
  private static let movesPerLabel = 48
  private static let leastWidth = 24
  /// The most labels of the same state that a label is compared with.
  private static let comparisons = 256

  init(_ loads: Loads, _ frontier: Frontier, guides weights: [[Double]], budget: Int) {
    self.loads = loads
    self.frontier = frontier
    self.budget = budget
    guard loads.index.nodeCount <= Self.mostNodes, loads.index.deviceCount <= Self.mostDevices else { return }
    let units = (0..<min(loads.count, Self.mostUnitGuides)).map { unit in
      (0..<loads.count).map { $0 == unit ? 1.0 : 0 }
    }
    for weights in weights + units where !guides.contains(where: { $0.weights == weights }) {
      let weighted = loads.weighted(by: weights)
      let costs = CopyCosts(weighted)
      guard !costs.isRounded,
        let forward = ForwardSearch(index: weighted, costs: costs, frontier: frontier, seconds: weighted.seconds)
          .run(budget: budget / 4), !forward.isTruncated
      else { continue }
      guides.append(Guide(weights: weights, costs: costs, forward: forward))
    }
  }

  /// The vectors of loads of one step, and their predecessors.
  private struct Labels {
    var loads: [Double] = []
    var parent: [Int32] = []
    var device: [UInt8] = []
    /// The routes of the copies that were settled at this step.
    var taken: [[Taken]] = []
    /// The lower bound of a label's final largest load, from the guides.
    var floor: [Double] = []
    var count: Int { parent.count }
  }
  private struct Taken {
    var value: Int
    var route: CopyRoutes.Route
  }
  private struct State {
    var key: [UInt64]
    var labels: [Int]
  }
  /// The choice of one step for a state: a device, the loads that it adds, and the routes.
  private struct Choice {
    var device: Int
    var loads: [Double]
    var taken: [Taken]
  }

  func run(below peak: Double) -> Answer {
    guard !guides.isEmpty else { return Answer(isComplete: false, states: 0) }
    let limit = peak * (1 - BalanceSearch.tolerance)
    var routes = CopyRoutes(loads)
    let width = loads.count
    var steps: [Labels] = []
    var labels = Labels(loads: Array(repeating: 0, count: width), parent: [-1], device: [0], taken: [[]])
    var states = [State(key: Array(repeating: 0, count: frontier.words), labels: [0])]
    var work = 0
    var kept = 0
    var isComplete = true
    for position in stride(from: index.nodeCount - 1, through: 0, by: -1) {
      let node = index.order[position]
      var next = Labels()
      var found: [[UInt64]: Int] = [:]
      var groups: [State] = []
      for state in states {
        for (key, choices) in choices(node, at: position, state.key, &routes) {
          let group = found[key] ?? groups.count
          if group == groups.count {
            found[key] = group
            groups.append(State(key: key, labels: []))
          }
          for label in state.labels {
            for choice in choices {
              groups[group].labels.append(next.count)
              for load in 0..<width { next.loads.append(labels.loads[label * width + load] + choice.loads[load]) }
              next.parent.append(Int32(truncatingIfNeeded: label))
              next.device.append(UInt8(truncatingIfNeeded: choice.device))
              next.taken.append(choice.taken)
            }
          }
          work += state.labels.count * choices.count * Self.movesPerLabel
        }
      }
      if routes.isIncomplete { isComplete = false }
      let live = liveValues(at: position)
      next.floor = Array(repeating: 0, count: next.count)
      for group in groups.indices {
        let floors = guides.map { floor($0, position, groups[group].key, live) }
        work += guides.count * live.count
        groups[group].labels = survivors(groups[group].labels, &next, floors, limit, &work)
      }
      let most = max(Self.leastWidth, 3 * max(0, budget - work) / (Self.movesPerLabel * 4 * (position + 1)))
      if narrow(&groups, next, to: most) { isComplete = false }
      groups.removeAll { $0.labels.isEmpty }
      if groups.isEmpty { return Answer(isComplete: isComplete, states: kept) }
      compact(&next, &groups)
      kept += next.count
      steps.append(next)
      labels = next
      states = groups
    }
    let best = states.lazy.flatMap(\.labels).min { largest(labels.loads, $0) < largest(labels.loads, $1) }
    guard let best, largest(labels.loads, best) < limit else { return Answer(isComplete: isComplete, states: kept) }
    return Answer(better: trace(steps, from: best), isComplete: isComplete, states: kept)
  }

  /// Keeps the labels with the least lower bounds.
  ///
  /// - Returns: whether any was left out.
  private func narrow(_ groups: inout [State], _ labels: Labels, to most: Int) -> Bool {
    let all = groups.flatMap(\.labels)
    guard all.count > most else { return false }
    var isKept = Array(repeating: false, count: labels.count)
    for label in all.sorted(by: { (labels.floor[$0], $0) < (labels.floor[$1], $1) }).prefix(most) {
      isKept[label] = true
    }
    for group in groups.indices { groups[group].labels.removeAll { !isKept[$0] } }
    return true
  }

  /// Keeps the labels that groups still hold.
  private func compact(_ labels: inout Labels, _ groups: inout [State]) {
    let width = loads.count
    var kept = Labels()
    for group in groups.indices {
      groups[group].labels = groups[group].labels.map { label in
        kept.loads.append(contentsOf: labels.loads[label * width..<(label + 1) * width])
        kept.parent.append(labels.parent[label])
        kept.device.append(labels.device[label])
        kept.taken.append(labels.taken[label])
        return kept.count - 1
      }
    }
    labels = kept
  }

  private func largest(_ vectors: [Double], _ label: Int) -> Double {
    vectors[label * loads.count..<(label + 1) * loads.count].max() ?? 0
  }

  /// Returns the labels of one state that may still end below `limit` and that no other beats in every load.
  private func survivors(
    _ labels: [Int], _ all: inout Labels, _ floors: [Double], _ limit: Double, _ work: inout Int
  ) -> [Int] {
    let width = loads.count
    var sums: [(label: Int, sum: Double)] = []
    for label in labels {
      var least = largest(all.loads, label)
      for (guide, floor) in zip(guides, floors) {
        var sum = floor
        for load in 0..<width { sum += guide.weights[load] * all.loads[label * width + load] }
        least = max(least, sum)
      }
      all.floor[label] = least
      if least < limit { sums.append((label, all.loads[label * width..<(label + 1) * width].reduce(0, +))) }
    }
    sums.sort { ($0.sum, $0.label) < ($1.sum, $1.label) }
    var kept: [Int] = []
    for (label, _) in sums {
      var isBeaten = false
      for other in kept.prefix(Self.comparisons) {
        work += 1
        var load = 0
        while load < width, all.loads[other * width + load] <= all.loads[label * width + load] { load += 1 }
        if load == width {
          isBeaten = true
          break
        }
      }
      if !isBeaten { kept.append(label) }
    }
    return kept
  }

  /// Returns the values that are live before the node at `position`.
  private func liveValues(at position: Int) -> [Int] {
    (0..<index.valueCount).filter {
      frontier.slot[$0] >= 0 && frontier.first[$0] < position && frontier.last[$0] >= position
    }
  }

  private func set(_ keys: [UInt64], from start: Int, _ value: Int) -> Int {
    let slot = frontier.slot[value]
    return Int(keys[start + frontier.word(slot)] >> frontier.shift(slot)) & ((1 << index.deviceCount) - 1)
  }

  /// Returns the least weighted cost of everything before `position` that ends with the copies that `key` needs.
  private func floor(_ guide: Guide, _ position: Int, _ key: [UInt64], _ live: [Int]) -> Double {
    var least = Double.infinity
    let sets = guide.costs.sets
    for state in guide.forward.range(position) {
      var sum = guide.forward.costs[state]
      if sum >= least { break }
      for value in live {
        let held = set(guide.forward.keys, from: state * frontier.words, value)
        sum += guide.costs.reachTable[guide.costs.table(of: value) + held * sets + set(key, from: 0, value)]
      }
      least = min(least, sum)
    }
    return least
  }

  /// Returns every combination of a device for `node` and routes for the values that it settles, by the resulting
  /// state.
  private func choices(
    _ node: Int, at position: Int, _ key: [UInt64], _ routes: inout CopyRoutes
  ) -> [(key: [UInt64], choices: [Choice])] {
    let hostSet = 1 << index.host
    let slotMask = UInt64(1 << index.deviceCount) - 1
    var cleared = key
    var settled: [(value: Int, set: Int)] = []
    for value in index.outputs(of: node) {
      let slot = frontier.slot[value]
      if slot >= 0 {
        settled.append((value, set(key, from: 0, value)))
        cleared[frontier.word(slot)] &= ~(slotMask << frontier.shift(slot))
      } else if index.isOutput[value] {
        settled.append((value, hostSet))
      }
    }
    var inputs: [(value: Int, needed: Int)] = []
    for value in index.inputs(of: node) {
      let slot = frontier.slot[value]
      if frontier.last[value] == position {
        inputs.append((value, index.isOutput[value] ? hostSet : 0))
      } else {
        inputs.append((value, set(key, from: 0, value)))
        cleared[frontier.word(slot)] &= ~(slotMask << frontier.shift(slot))
      }
    }
    var found: [(key: [UInt64], choices: [Choice])] = []
    for device in 0..<index.deviceCount where index.seconds(node, on: device).isFinite {
      var first = Choice(device: device, loads: Array(repeating: 0, count: loads.count), taken: [])
      loads.add(node, on: device, to: &first.loads)
      var choices = [first]
      var key = cleared
      func settle(_ value: Int, root: Int, _ set: Int) {
        let ways = routes.routes(value, root: root, reaching: set)
        choices = choices.flatMap { choice in
          ways.map { way in
            var choice = choice
            for load in choice.loads.indices { choice.loads[load] += way.loads[load] }
            choice.taken.append(Taken(value: value, route: way))
            return choice
          }
        }
      }
      for (value, set) in settled { settle(value, root: device, set) }
      for (value, needed) in inputs {
        let set = needed | 1 << device
        if index.producer[value] < 0, frontier.first[value] == position {
          settle(value, root: index.host, set)
        } else {
          let slot = frontier.slot[value]
          key[frontier.word(slot)] |= UInt64(set) << frontier.shift(slot)
        }
      }
      if !choices.isEmpty { found.append((key, choices)) }
    }
    return found
  }

  private func trace(_ steps: [Labels], from label: Int) -> BalancedPlan? {
    var placement = Array(repeating: 0, count: index.nodeCount)
    var trees: [Int: [Int]] = [:]
    var label = label
    for (back, step) in steps.reversed().enumerated() {
      placement[index.order[back]] = Int(step.device[label])
      for taken in step.taken[label] { trees[taken.value] = taken.route.tree }
      label = Int(step.parent[label])
    }
    return Evaluation(index, placement) { value, root, targets in
      trees[value]
    }.map { BalancedPlan(loads, placement, $0) }
  }
}
