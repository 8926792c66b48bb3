/// For every node and device, the least total with the node there and everything else optimal.
protocol Marginals {
  /// `node * devices + device`; infinite where the node may not run.
  var totals: [Double] { get }
  /// Whether all of `totals` are exact; false when some are upper bounds.
  var isExact: Bool { get }
  /// Returns a placement with `node` on `device` whose total is that of `totals`.
  func placement(with node: Int, on device: Int) -> [Int]?
}

/// Marginals of a graph with few live values: dynamic programming from both ends, joined at every node.
///
/// With `F` the forward cost of the copies before a node and `H` the backward cost of the copies needed after it,
/// `total(n, d) = min over states s, C of F(s) + seconds(n, d) + reach(s → d and C) + H(C)`. Both searches may discard
/// dominated states: a state that another can turn into at no greater total never decides a minimum.
struct JoinedMarginals: Marginals {
  private(set) var totals: [Double]
  /// False when states were discarded for width, or pairs left out for time: totals are then upper bounds.
  private(set) var isExact = true
  private var best: [(before: Int32, after: Int32)]
  let index: ProblemIndex
  private let forward: Layers
  private let backward: Layers
  private let position: [Int]

  private struct Crossing {
    var table: Int
    var before: Int
    var after: Int
    /// The set that holds the value if it has no slot before the cut, and the set that needs it if it has none after.
    var held: Int
    var needed: Int
    /// Whether the node's device is a source (outputs), a target (inputs), or neither (passing values).
    var role: Role
  }
  private enum Role { case passing, input, output }

  init(
    _ index: ProblemIndex, _ costs: CopyCosts, _ frontier: Frontier, seconds: [Double], forward: Layers,
    backward: Layers,
    budget: Int
  ) {
    self.index = index
    self.forward = forward
    self.backward = backward
    position = frontier.position
    let devices = index.deviceCount
    totals = Array(repeating: .infinity, count: index.nodeCount * devices)
    best = Array(repeating: (0, 0), count: index.nodeCount * devices)
    isExact = !forward.isTruncated && !backward.isTruncated
    var passing: [Int] = []
    var readAt = Array(repeating: -1, count: index.valueCount)
    for (position, node) in index.order.enumerated() {
      let crossings = self.crossings(of: node, at: position, passing: &passing, readAt: &readAt, costs, frontier)
      join(node, at: position, crossings, costs, frontier, seconds, limit: budget / max(1, index.nodeCount))
    }
  }

  private func crossings(
    of node: Int, at position: Int, passing: inout [Int], readAt: inout [Int], _ costs: CopyCosts, _ frontier: Frontier
  ) -> [Crossing] {
    let hostSet = 1 << index.host
    let inputs = index.inputs(of: node)
    for value in inputs { readAt[value] = position }
    passing.removeAll { readAt[$0] == position }
    var found = passing.map { value in
      Crossing(
        table: costs.table(of: value), before: frontier.slot[value], after: frontier.slot[value], held: 0, needed: 0,
        role: .passing)
    }
    for value in inputs {
      let isLast = frontier.last[value] == position
      let isFirst = frontier.first[value] == position
      found.append(
        Crossing(
          table: costs.table(of: value), before: isFirst ? -1 : frontier.slot[value],
          after: isLast ? -1 : frontier.slot[value], held: hostSet,
          needed: isLast && index.isOutput[value] ? hostSet : 0, role: .input))
      if !isLast { passing.append(value) }
    }
    for value in index.outputs(of: node) {
      let slot = frontier.slot[value]
      if slot >= 0 { passing.append(value) }
      if slot >= 0 || index.isOutput[value] {
        found.append(
          Crossing(table: costs.table(of: value), before: -1, after: slot, held: 0, needed: hostSet, role: .output))
      }
    }
    return found
  }

  private mutating func join(
    _ node: Int, at position: Int, _ crossings: [Crossing], _ costs: CopyCosts, _ frontier: Frontier,
    _ seconds: [Double],
    limit: Int
  ) {
    let devices = index.deviceCount
    let sets = costs.sets
    let slotMask = UInt64(sets - 1)
    let words = frontier.words
    let before = forward.range(position)
    let after = backward.range(index.nodeCount - 1 - position)
    let choices = (0..<devices).filter { seconds[node * devices + $0].isFinite }
    guard let cheapest = choices.map({ seconds[node * devices + $0] }).min() else { return }
    var worst = Double.infinity
    var work = 0
    for s in before {
      let start = forward.costs[s] + cheapest
      if start >= worst { break }
      for c in after {
        let floor = start + backward.costs[c]
        if floor >= worst { break }
        work += crossings.count + 2
        if work > limit, worst.isFinite {
          isExact = false
          return
        }
        var shared = forward.costs[s] + backward.costs[c]
        for crossing in crossings where crossing.role == .passing {
          let word = frontier.word(crossing.before)
          let shift = frontier.shift(crossing.before)
          let held = Int(forward.keys[s * words + word] >> shift & slotMask)
          let needed = Int(backward.keys[c * words + word] >> shift & slotMask)
          shared += costs.reachTable[crossing.table + held * sets + needed]
          if shared + cheapest >= worst { break }
        }
        if shared + cheapest >= worst { continue }
        worst = 0
        for device in choices {
          let entry = node * devices + device
          var total = shared + seconds[entry]
          for crossing in crossings where crossing.role != .passing {
            var held = crossing.role == .output ? 1 << device : crossing.held
            var needed = crossing.needed
            if crossing.before >= 0 {
              held = Int(
                forward.keys[s * words + frontier.word(crossing.before)] >> frontier.shift(crossing.before) & slotMask)
            }
            if crossing.after >= 0 {
              needed = Int(
                backward.keys[c * words + frontier.word(crossing.after)] >> frontier.shift(crossing.after) & slotMask)
            }
            if crossing.role == .input { needed |= 1 << device }
            total += costs.reachTable[crossing.table + held * sets + needed]
          }
          if total < totals[entry] {
            totals[entry] = total
            best[entry] = (Int32(s - before.lowerBound), Int32(c - after.lowerBound))
          }
          worst = max(worst, totals[entry])
        }
      }
    }
  }

  func placement(with node: Int, on device: Int) -> [Int]? {
    let position = position[node]
    var devices = Array(repeating: 0, count: index.nodeCount)
    let (before, after) = best[node * index.deviceCount + device]
    forward.trace(position, Int(before)) { layer, device in devices[index.order[layer - 1]] = device }
    let last = index.nodeCount - 1 - position
    backward.trace(last, Int(after)) { layer, device in devices[index.order[index.nodeCount - layer]] = device }
    devices[node] = device
    return devices
  }
}
