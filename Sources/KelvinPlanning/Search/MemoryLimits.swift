import KelvinBasics

/// The peak bytes of weights and values on each device, and plans within the limits.
struct MemoryLimits {
  private let index: ProblemIndex
  private let frontier: Frontier
  private let budget: Int
  private static let rounds = 40
  /// The most improving moves that are tried in turn.
  private static let mostTried = 64
  private static let mostPlacements = 20_000
  private static let tolerance = 1e-9

  init(search: LatencySearch) {
    index = search.index
    frontier = search.frontier
    budget = search.budget
  }

  /// Creates limits that only support `firstExcess`.
  init(_ index: ProblemIndex, _ frontier: Frontier) {
    self.index = index
    self.frontier = frontier
    budget = 0
  }

  var isLimited: Bool { index.memory.contains { $0 != .max } }

  /// Returns the first node of a serial run at which a device holds more than its limit: `(node, device)`.
  ///
  /// The weights of a device's nodes are held throughout. A copy is held from its creation to its last use on the device:
  /// by a node, as the source of another copy, or, for a graph output on the host, to the end.
  func firstExcess(_ placement: [Int], _ evaluation: Evaluation) -> (node: Int, device: Int)? {
    let count = index.deviceCount
    let steps = index.nodeCount
    guard isLimited, steps > 0 else { return nil }
    let values = valueBytes(placement, evaluation)
    let weights = weightBytes([placement])
    var first: (step: Int, device: Int)?
    for device in 0..<count where index.memory[device] != .max {
      let step = (0..<steps).first { weights[device] + values[device * steps + $0] > index.memory[device] }
      if let step, first.map({ step < $0.step }) ?? true { first = (step, device) }
    }
    return first.map { (index.order[$0.step], $0.device) }
  }

  /// Returns the evaluation of a plan within the limits, with the weights that it must stream; nil if it exceeds them.
  func fitted(_ placement: [Int], _ evaluation: Evaluation) -> Evaluation? {
    guard firstExcess(placement, evaluation) != nil else { return evaluation }
    guard !index.streamSeconds.isEmpty else { return nil }
    let (steps, values, weights) = (index.nodeCount, valueBytes(placement, evaluation), weightBytes([placement]))
    var fitted = evaluation
    for device in 0..<index.deviceCount where index.memory[device] != .max {
      let room = index.memory[device] - (values[device * steps..<(device + 1) * steps].max() ?? 0)
      guard let choice = StreamChoice(index, placement, on: device, sparing: weights[device] - room) else { return nil }
      fitted.stream(choice)
    }
    return fitted
  }

  /// Evaluates a placement within the limits; nil if it exceeds them.
  func evaluation(_ placement: [Int]) -> Evaluation? {
    Evaluation(index, placement).flatMap { fitted(placement, $0) }
  }

  /// Returns the bytes of values on each device while each node of a serial run runs, `device * nodes + step`.
  private func valueBytes(_ placement: [Int], _ evaluation: Evaluation) -> [Int] {
    let (count, steps) = (index.deviceCount, index.nodeCount)
    let position = frontier.position
    var ends: [Int] = Array(repeating: -1, count: index.valueCount * count)
    func use(_ value: Int, _ device: Int, _ step: Int) {
      ends[value * count + device] = max(ends[value * count + device], step)
    }
    for node in 0..<steps {
      for value in index.inputs(of: node) { use(value, placement[node], position[node]) }
      for value in index.outputs(of: node) { use(value, placement[node], position[node]) }
    }
    for copy in evaluation.copies {
      use(copy.value, copy.from, position[copy.node])
      use(copy.value, copy.to, position[copy.node])
    }
    var change = Array(repeating: 0, count: count * (steps + 1))
    func hold(_ value: Int, _ device: Int, from step: Int) {
      let end = index.isOutput[value] && device == index.host ? steps - 1 : ends[value * count + device]
      guard end >= step else { return }
      change[device * (steps + 1) + step] += index.bytes[value]
      change[device * (steps + 1) + end + 1] -= index.bytes[value]
    }
    for value in 0..<index.valueCount {
      let producer = index.producer[value]
      hold(value, producer < 0 ? index.host : placement[producer], from: producer < 0 ? 0 : position[producer])
    }
    for copy in evaluation.copies { hold(copy.value, copy.to, from: position[copy.node]) }
    var bytes = Array(repeating: 0, count: count * steps)
    for device in 0..<count where index.memory[device] != .max {
      var held = 0
      for step in 0..<steps {
        held += change[device * (steps + 1) + step]
        bytes[device * steps + step] = held
      }
    }
    return bytes
  }

  /// Whether a plan stays within the limits when one node moves.
  func fits(_ placement: [Int], moving node: Int, to device: Int) -> Bool {
    var moved = placement
    moved[node] = device
    return evaluation(moved) != nil
  }

  /// Whether each device holds the weights of all these plans together.
  func fitTogether(_ placements: [[Int]]) -> Bool {
    zip(weightBytes(placements), index.memory).allSatisfy { $0 <= $1 }
  }

  /// Returns the bytes of the distinct weights of each device's nodes in any of the plans.
  private func weightBytes(_ placements: [[Int]]) -> [Int] {
    var bytes = Array(repeating: 0, count: index.deviceCount)
    var holders = Array(repeating: 0, count: index.weightBytes.count)
    for placement in placements {
      for node in 0..<index.nodeCount {
        for weight in index.weights(of: node)
        where holders[weight] & 1 << placement[node] == 0 && index.keeps(weight, on: placement[node]) {
          holders[weight] |= 1 << placement[node]
          bytes[placement[node]] += index.weightBytes[weight]
        }
      }
    }
    return bytes
  }

  /// Returns `found` if it is within the limits. Otherwise, returns the best plan within the limits that results from a
  /// rising price per byte on the devices that exceed them, with `found` as the lower bound.
  ///
  /// If there are few placements, all are evaluated, each with its cheapest copies. With two devices no other copies
  /// exist, so the plan is exact.
  func fit(_ found: LatencySearch.Found) throws(PlanningError) -> LatencySearch.Found {
    let count = index.deviceCount
    guard var excess = firstExcess(found.placement, found.evaluation) else { return found }
    if let all = enumerated() {
      guard var best = all.best else { throw crowded(excess) }
      let isExact = found.method == .exact && count <= 2 && all.isExact
      best.lowerBound = isExact ? best.evaluation.total : found.lowerBound
      best.method = isExact || best.evaluation.total <= found.lowerBound ? .exact : .approximate
      return best
    }
    let search = LatencySearch(index, budget: budget / 20, frontier: frontier)
    let bytes = (0..<index.nodeCount * count).map { entry in
      let (node, device) = (entry / count, entry % count)
      return (index.inputs(of: node) + index.outputs(of: node)).reduce(
        Double(index.weightBytes(of: node, on: device))
      ) { $0 + Double(index.bytes[$1]) }
    }
    let sum = max(bytes.reduce(0, +) / Double(count), 1)
    var best: LatencySearch.Found?
    func consider(_ candidate: LatencySearch.Found) -> Bool {
      guard let evaluation = fitted(candidate.placement, candidate.evaluation) else {
        excess = firstExcess(candidate.placement, candidate.evaluation) ?? excess
        return false
      }
      var candidate = candidate
      candidate.evaluation = evaluation
      if best.map({ candidate.evaluation.total < $0.evaluation.total }) ?? true { best = candidate }
      return true
    }
    for device in 0..<count {
      if let only = try? search.placement(seconds: search.secondsKeeping(device)) { _ = consider(only) }
    }
    excess = firstExcess(found.placement, found.evaluation) ?? excess
    var price = Array(repeating: 0.0, count: count)
    for _ in 0..<Self.rounds {
      price[excess.device] = max(price[excess.device] * 1.6, 0.02 * max(found.evaluation.total, 1e-9) / sum)
      var seconds = index.seconds
      for node in 0..<index.nodeCount {
        for device in 0..<count {
          seconds[node * count + device] += price[device] * bytes[node * count + device]
        }
      }
      if consider(try search.placement(seconds: seconds)) { break }
    }
    if var known = best {
      improve(&known, search.deliveries)
      best = known
    }
    var lowerBound = found.lowerBound
    if !index.weights.isEmpty {
      var weights = WeightSearch(search, self, best: best, lowerBound: lowerBound, budget: budget / 5)
      weights.run()
      (best, lowerBound) = (weights.best, weights.lowerBound)
    }
    if !index.streamSeconds.isEmpty {
      var streams = StreamSearch(search, self, best: best, lowerBound: found.lowerBound)
      try streams.run(others: lowerBound)
      (best, lowerBound) = (streams.best, streams.lowerBound)
    }
    guard var best else { throw crowded(excess) }
    best.method = best.evaluation.total <= lowerBound * (1 + Self.tolerance) ? .exact : .approximate
    best.lowerBound = lowerBound
    return best
  }

  /// Moves one node at a time: the move that saves most among those within the limits.
  ///
  /// - Returns: the number of placements evaluated.
  @discardableResult func improve(_ best: inout LatencySearch.Found, _ deliveries: DeliveryCosts) -> Int {
    let count = index.deviceCount
    let descent = Descent(index, deliveries, seconds: index.seconds)
    var evaluated = 0
    for _ in 0..<Self.rounds {
      let (start, total) = (best.placement, best.evaluation.total)
      let totals = descent.totals(around: start, total)
      let better = totals.indices.filter { totals[$0] < total * (1 - 1e-12) }
        .sorted { (totals[$0], $0) < (totals[$1], $1) }
      var isImproved = false
      func moved(_ entry: Int) -> [Int] {
        var placement = start
        placement[entry / count] = entry % count
        return placement
      }
      /// Weights that do not fit may be streamed.
      func mayFit(_ placement: [Int]) -> Bool { !index.streamSeconds.isEmpty || fitTogether([placement]) }
      for placement in better.lazy.map(moved).filter(mayFit).prefix(Self.mostTried) {
        evaluated += 1
        guard let evaluation = self.evaluation(placement), evaluation.total < total else { continue }
        best.placement = placement
        best.evaluation = evaluation
        isImproved = true
        break
      }
      if !isImproved { break }
    }
    return evaluated
  }

  private func crowded(_ excess: (node: Int, device: Int)) -> PlanningError {
    let (name, room) = (index.deviceNames[excess.device], index.memory[excess.device])
    let weights = weightBytes([Array(repeating: excess.device, count: index.nodeCount)])[excess.device]
    return .infeasible(
      node: index.nodeNames[excess.node],
      "no plan was found that keeps '\(name)' within \(HumanReadable.bytes(room)) when it runs; the weights of all "
        + "nodes take \(HumanReadable.bytes(weights)) there",
      remedy: "allow more memory or another device")
  }

  private struct Enumeration {
    /// `nil` when no placement is within the limits.
    var best: LatencySearch.Found?
    /// Whether the weights to stream were chosen at least cost for every placement.
    var isExact: Bool
  }

  /// Returns the best of all placements within the limits; `nil` when there are too many to evaluate.
  private func enumerated() -> Enumeration? {
    let count = index.deviceCount
    let choices = (0..<index.nodeCount).map { node in
      (0..<count).filter { index.seconds(node, on: $0).isFinite }
    }
    var placements = 1
    for choice in choices {
      placements *= choice.count
      if placements > Self.mostPlacements { return nil }
    }
    var placement = Array(repeating: 0, count: index.nodeCount)
    var best: LatencySearch.Found?
    var isExact = true
    func place(_ node: Int, _ seconds: Double) {
      if let best, seconds >= best.evaluation.total { return }
      guard node < placement.count else {
        guard let free = Evaluation(index, placement), best.map({ free.total < $0.evaluation.total }) ?? true,
          let evaluation = fitted(placement, free)
        else { return }
        isExact = isExact && evaluation.isLeast
        if let best, evaluation.total >= best.evaluation.total { return }
        best = LatencySearch.Found(
          placement: placement, evaluation: evaluation, method: .approximate, lowerBound: 0, states: placements)
        return
      }
      for device in choices[node] {
        placement[node] = device
        place(node + 1, seconds + index.seconds(node, on: device))
      }
    }
    place(0, 0)
    return Enumeration(best: best, isExact: isExact)
  }
}
