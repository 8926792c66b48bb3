/// The cost of a given placement with its copies.
struct Evaluation {
  struct Copy: Hashable {
    var value: Int
    var from: Int
    var to: Int
    var seconds: Double
    var node: Int
  }

  /// Seconds of nodes and copies.
  private(set) var total: Double
  /// The copies in the order of a serial run.
  let copies: [Copy]
  /// The nodes whose weights are streamed.
  private(set) var streamed: [Int] = []
  /// Whether no other choice of them costs less.
  private(set) var isLeast = true

  /// Evaluates a placement with the copies of least cost.
  ///
  /// - Parameter placement: a device for every node.
  /// - Returns: `nil` when a node may not run on its device or a value cannot reach a device that needs it.
  init?(_ index: ProblemIndex, _ placement: [Int]) {
    self.init(index, placement) { value, root, targets in
      Self.arborescence(index, index.cargo(value), root: root, reaching: targets)
    }
  }

  /// - Parameter route: returns, for a value, its first device and the set of devices that need it, the source of each
  ///   device's copy, as `arborescence` does.
  init?(_ index: ProblemIndex, _ placement: [Int], route: (_ value: Int, _ root: Int, _ targets: Int) -> [Int]?) {
    let count = index.deviceCount
    var total = 0.0
    for node in 0..<index.nodeCount {
      let seconds = index.seconds(node, on: placement[node])
      guard seconds.isFinite else { return nil }
      total += seconds
    }
    var targets = index.isOutput.map { $0 ? 1 << index.host : 0 }
    for node in 0..<index.nodeCount {
      for value in index.inputs(of: node) { targets[value] |= 1 << placement[node] }
    }
    var trees: [Int: [Int]] = [:]
    for value in 0..<index.valueCount {
      let root = index.producer[value] < 0 ? index.host : placement[index.producer[value]]
      if targets[value] & ~(1 << root) == 0 { continue }
      guard let tree = route(value, root, targets[value]) else { return nil }
      trees[value] = tree
    }
    var copies: [Copy] = []
    var present = Array(repeating: 0, count: trees.isEmpty ? 0 : index.valueCount)
    func bring(_ value: Int, to device: Int, for node: Int) {
      guard let tree = trees[value] else { return }
      let root = index.producer[value] < 0 ? index.host : placement[index.producer[value]]
      present[value] |= 1 << root
      var path: [Int] = []
      var at = device
      while present[value] & (1 << at) == 0, path.count <= count {
        path.append(at)
        at = tree[at]
      }
      for to in path.reversed() {
        let seconds = index.copySeconds(index.cargo(value), from: tree[to], to: to)
        copies.append(Copy(value: value, from: tree[to], to: to, seconds: seconds, node: node))
        present[value] |= 1 << to
      }
    }
    if !trees.isEmpty {
      for node in index.order {
        for value in index.inputs(of: node) { bring(value, to: placement[node], for: node) }
        for value in index.outputs(of: node) where index.isOutput[value] { bring(value, to: index.host, for: node) }
      }
    }
    for copy in copies { total += copy.seconds }
    self.total = total
    self.copies = copies
  }

  private init(total: Double, copies: [Copy], streamed: [Int]) {
    self.total = total
    self.copies = copies
    self.streamed = streamed
  }

  mutating func stream(_ choice: StreamChoice) {
    total += choice.seconds
    streamed += choice.nodes
    isLeast = isLeast && choice.isLeast
  }

  /// Returns the same placement and copies with the costs of another index of the same graph.
  func repriced(_ index: ProblemIndex, _ placement: [Int]) -> Evaluation {
    var total = 0.0
    for node in 0..<index.nodeCount { total += index.seconds(node, on: placement[node]) }
    let copies = copies.map { copy in
      var copy = copy
      copy.seconds = index.copySeconds(index.cargo(copy.value), from: copy.from, to: copy.to)
      return copy
    }
    for copy in copies { total += copy.seconds }
    for node in streamed { total += index.streamSeconds[node * index.deviceCount + placement[node]] }
    return Evaluation(total: total, copies: copies, streamed: streamed)
  }

  /// Finds the least-cost copies from `root` to every device of `targets`, relays allowed.
  ///
  /// - Returns: for each device, the source of its copy (-1 if none), or `nil` when a target is unreachable.
  static func arborescence(_ index: ProblemIndex, _ cargo: TransferPayload, root: Int, reaching targets: Int) -> [Int]?
  {
    let count = index.deviceCount
    let sets = 1 << count
    var cost = Array(repeating: Double.infinity, count: sets)
    var lastAdded = Array(repeating: (from: -1, to: -1), count: sets)
    cost[1 << root] = 0
    var best = 0
    let needed = targets | 1 << root
    for set in 1..<sets where cost[set].isFinite {
      if set & needed == needed {
        if best == 0 || cost[set] < cost[best]
          || cost[set] == cost[best] && set.nonzeroBitCount < best.nonzeroBitCount
        {
          best = set
        }
      }
      for to in 0..<count where set & (1 << to) == 0 {
        for from in 0..<count where set & (1 << from) != 0 {
          let sum = cost[set] + index.copySeconds(cargo, from: from, to: to)
          if sum < cost[set | 1 << to] {
            cost[set | 1 << to] = sum
            lastAdded[set | 1 << to] = (from, to)
          }
        }
      }
    }
    guard best != 0 else { return nil }
    var parents = Array(repeating: -1, count: count)
    var set = best
    while lastAdded[set].to >= 0 {
      let (from, to) = lastAdded[set]
      parents[to] = from
      set &= ~(1 << to)
    }
    return parents
  }

  /// Returns the solution with the problem's names.
  func solution(
    _ index: ProblemIndex, _ placement: [Int], method: PlanSolution.Method, lowerBound: Double, searchStates: Int = 0,
    objective: Double? = nil
  ) -> PlanSolution {
    var names: [String: String] = [:]
    names.reserveCapacity(index.nodeCount)
    for node in 0..<index.nodeCount { names[index.nodeNames[node]] = index.deviceNames[placement[node]] }
    var solution = PlanSolution(
      predicted: total, placement: names,
      transfers: copies.map { copy in
        PlannedTransfer(
          value: index.valueNames[copy.value], from: index.deviceNames[copy.from], to: index.deviceNames[copy.to],
          bytes: index.bytes[copy.value], seconds: copy.seconds, node: index.nodeNames[copy.node],
          isSignal: index.signalOfValue[copy.value] >= 0 ? true : nil)
      },
      method: method, lowerBound: lowerBound, searchStates: searchStates, objective: objective)
    let loads = Loads(resourcesOf: index)
    let seconds = loads.sum(placement, self)
    if let most = seconds.indices.max(by: { seconds[$0] < seconds[$1] }) {
      solution.bottleneck = Bottleneck(resource: index.resourceNames[most], seconds: seconds[most])
    }
    solution.joules = joules(index, placement)
    solution.streamed = streamed.isEmpty ? nil : streamed.map { index.nodeNames[$0] }.sorted()
    return solution
  }

  /// Returns the dynamic energy of nodes and copies; `nil` when a node's is unknown.
  func joules(_ index: ProblemIndex, _ placement: [Int]) -> Double? {
    var sum = 0.0
    for node in 0..<index.nodeCount { sum += index.joules[node * index.deviceCount + placement[node]] }
    for copy in copies { sum += copy.seconds * index.copyWatts[copy.from * index.deviceCount + copy.to] }
    for node in streamed {
      let (from, to) = (index.host * index.deviceCount, placement[node])
      sum += index.streamSeconds[node * index.deviceCount + to] * index.copyWatts[from + to]
    }
    return sum.isFinite ? sum : nil
  }
}
