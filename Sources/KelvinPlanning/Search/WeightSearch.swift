/// The least serial sum of a plan whose weights fit in the memory of its devices.
///
/// With a price `λ` on each byte of weights on a device, a plan `x` costs `cost(x) + λ (W(x) − C)`; `W` are its bytes
/// there and `C` the device's memory. For plans that fit, the second term is not above 0, so the least priced cost is a
/// lower bound for every `λ ≥ 0` (Geoffrion, "Lagrangean relaxation for integer programming", 1974). The best price lies
/// where a plan that fits and one that does not cost the same, and is found along their lines.
///
/// Branch and bound closes the gap: the largest node on which these two plans differ is kept off the device, or on it.
/// Or all nodes with large values are kept off the device; in the other plans one of them is there, so its values are
/// subtracted from `C`. If weights have few sums, `C` is the largest sum that fits.
///
/// A weight with several readers counts once. For the prices its bytes are divided among the readers, which never counts
/// more than once, so bounds stay bounds. Values are checked for each plan. A node that must run on a device takes the room
/// of its inputs and outputs from the weights there, so where values exceed what the weights leave, the node is decided.
struct WeightSearch {
  private let search: LatencySearch
  private let memory: MemoryLimits
  private let descent: Descent
  private let budget: Int
  /// The bytes of each node's weights on a device, `node * devices + device`, shared ones divided among their readers.
  private let share: [Double]
  /// The bytes of each node's inputs and outputs.
  private let values: [Double]
  /// The devices whose memory is limited.
  private let limited: [Int]
  private(set) var best: LatencySearch.Found?
  private(set) var lowerBound: Double
  private var work = 0
  private var index: ProblemIndex { search.index }
  private static let mostSteps = 24
  private static let mostSums = 4_096
  private static let tolerance = 1e-9

  /// - Parameters:
  ///   - best: a plan within the limits, if one is known.
  ///   - lowerBound: a lower bound of every plan.
  ///   - budget: elementary moves.
  init(_ search: LatencySearch, _ memory: MemoryLimits, best: LatencySearch.Found?, lowerBound: Double, budget: Int) {
    let index = search.index
    self.search = search
    self.memory = memory
    self.best = best
    self.lowerBound = lowerBound
    self.budget = budget
    descent = Descent(index, search.deliveries, seconds: index.seconds)
    let count = index.deviceCount
    share = (0..<index.nodeCount * count).map { entry in
      index.weights(of: entry / count).filter { index.keeps($0, on: entry % count) }
        .reduce(0) { $0 + Double(index.weightBytes[$1]) / Double(index.weightReaders[$1]) }
    }
    values = (0..<index.nodeCount).map { node in
      (index.inputs(of: node) + index.outputs(of: node)).reduce(0) { $0 + Double(index.bytes[$1]) }
    }
    limited = (0..<index.deviceCount).filter { index.memory[$0] != .max }
  }

  /// A part of the plans: those without the `closed` entries, `node * devices + device`.
  private struct Region {
    var closed: [Int]
    /// The bytes of values that some node on each device has at least.
    var values: [Double]
    var prices: [Double]
    var bound: Double
  }

  private struct Dual {
    /// The bytes of values for which the bound leaves room on each device, and the most bytes of weights beside them.
    var values: [Double]
    var capacities: [Double]
    var prices: [Double]
    var bound: Double
    /// The next decision; nil when the bound needs no decision.
    var split: Split?
  }

  private struct Split {
    enum Question {
      /// Whether a node is on the device.
      case node(Int)
      /// Whether any node with at least these bytes of values is on the device.
      case values(Double)
    }
    var device: Int
    var question: Question
    /// The bytes on the device that depend on the answer.
    var bytes: Double
  }

  mutating func run() {
    let none = Array(repeating: 0.0, count: index.deviceCount)
    var open = [Region(closed: [], values: none, prices: none, bound: lowerBound)]
    // The least bound of a region of one placement whose copies do not fit, though others might.
    var floor = Double.infinity
    while let next = open.indices.min(by: { open[$0].bound < open[$1].bound }) {
      let region = open[next]
      guard !isSettled(region.bound), work < budget else { break }
      open.remove(at: next)
      guard let dual = dual(region), !isSettled(dual.bound) else { continue }
      guard let split = dual.split else {
        floor = min(floor, dual.bound)
        continue
      }
      open += parts(region, split).map { part in
        var part = part
        (part.prices, part.bound) = (dual.prices, dual.bound)
        return part
      }
    }
    let least = min(open.map(\.bound).min() ?? .infinity, floor, best?.evaluation.total ?? .infinity)
    if least.isFinite { lowerBound = max(lowerBound, least) }
  }

  /// Returns the parts of a region: the plans for which the answer is no, and those for which it is yes.
  private func parts(_ region: Region, _ split: Split) -> [Region] {
    let count = index.deviceCount
    var (no, yes) = (region, region)
    switch split.question {
    case .node(let node):
      no.closed.append(node * count + split.device)
      yes.closed += (0..<count).filter { $0 != split.device }.map { node * count + $0 }
    case .values(let least):
      no.closed += (0..<index.nodeCount).filter { values[$0] >= least }.map { $0 * count + split.device }
      yes.values[split.device] = least
    }
    return [no, yes]
  }

  private func isSettled(_ bound: Double) -> Bool {
    best.map { bound >= $0.evaluation.total * (1 - Self.tolerance) } ?? false
  }

  /// The least priced cost of a region's plans, and its prices.
  ///
  /// - Returns: nil when no plan of the region fits.
  private mutating func dual(_ region: Region) -> Dual? {
    let count = index.deviceCount
    var seconds = index.seconds
    for entry in region.closed { seconds[entry] = .infinity }
    for node in 0..<index.nodeCount where !(0..<count).contains(where: { seconds[node * count + $0].isFinite }) {
      return nil
    }
    var dual = Dual(values: region.values, capacities: [], prices: region.prices, bound: region.bound)
    (dual.values, dual.capacities) = room(seconds, region.values)
    for device in limited {
      dual.prices[device] = 0
      guard var over = plan(seconds, &dual) else { return nil }
      let capacity = dual.capacities[device]
      guard bytes(over, on: device) > capacity else {
        if dual.split == nil, memory.firstExcess(over.placement, over.evaluation)?.device == device {
          dual.split =
            valueSplit([over], beyond: dual.values[device], on: device)
            ?? largest(seconds, on: device, preferring: over.placement)
          // The region is one placement, and two devices leave no choice of copies.
          if dual.split == nil, count <= 2 { return nil }
        }
        continue
      }
      var emptied = seconds
      for node in 0..<index.nodeCount where share(node, device) > 0 {
        let others = (0..<count).contains { $0 != device && seconds[node * count + $0].isFinite }
        if others { emptied[node * count + device] = .infinity }
      }
      var within = plan(emptied, prices: dual.prices)
      if let within, bytes(within, on: device) > capacity { return nil }
      for _ in 0..<Self.mostSteps {
        guard let fits = within else { break }
        let (above, below) = (cost(over, dual.prices, but: device), cost(fits, dual.prices, but: device))
        dual.prices[device] = max(0, below - above) / (bytes(over, on: device) - bytes(fits, on: device))
        let line = above + dual.prices[device] * bytes(over, on: device)
        guard let middle = plan(seconds, &dual) else { break }
        let priced = cost(middle, dual.prices, but: device) + dual.prices[device] * bytes(middle, on: device)
        if priced >= line * (1 - Self.tolerance) { break }
        if bytes(middle, on: device) > capacity { over = middle } else { within = middle }
      }
      let node = (0..<index.nodeCount).filter { node in
        isOpen(node, seconds, on: device) && share(node, device) > 0
          && (over.placement[node] == device) != (within?.placement[node] == device)
      }.max { share($0, device) < share($1, device) }
      let onNode = node.map { Split(device: device, question: .node($0), bytes: share($0, device)) }
      let onValues = valueSplit([over, within].compactMap(\.self), beyond: dual.values[device], on: device)
      for split in [onNode, onValues].compactMap(\.self) where split.bytes > dual.split?.bytes ?? 0 {
        dual.split = split
      }
      repair(over)
    }
    return dual
  }

  private func share(_ node: Int, _ device: Int) -> Double { share[node * index.deviceCount + device] }

  private func isOpen(_ node: Int, _ seconds: [Double], on device: Int) -> Bool {
    let choices = (0..<index.deviceCount).filter { seconds[node * index.deviceCount + $0].isFinite }
    return choices.count > 1 && choices.contains(device)
  }

  /// Returns the node to decide on where weights leave too little room for values: the largest on the device, else
  /// elsewhere.
  private func largest(_ seconds: [Double], on device: Int, preferring placement: [Int]) -> Split? {
    func bytes(_ node: Int) -> Double { values[node] + share(node, device) }
    let open = (0..<index.nodeCount).filter { isOpen($0, seconds, on: device) }
    let node =
      open.filter { placement[$0] == device }.max { bytes($0) < bytes($1) } ?? open.max { bytes($0) < bytes($1) }
    return node.map { Split(device: device, question: .node($0), bytes: bytes($0)) }
  }

  /// Returns a question about values on a device that are nearer to the most of any node that `plans` have there than to
  /// the `counted` bytes; nil when `counted` covers all of them.
  private func valueSplit(_ plans: [LatencySearch.Found], beyond counted: Double, on device: Int) -> Split? {
    let held = plans.flatMap { plan in (0..<index.nodeCount).filter { plan.placement[$0] == device } }.map {
      values[$0]
    }
    guard let most = held.max(), most > counted,
      let least = held.filter({ $0 >= (counted + most) / 2 }).min()
    else { return nil }
    return Split(device: device, question: .values(least), bytes: most - counted)
  }

  /// Returns the bytes of values on each device: at least `values` and those of each node that must run there. Also
  /// returns the most bytes of weights that fit beside them.
  private func room(_ seconds: [Double], _ values: [Double]) -> (values: [Double], weights: [Double]) {
    let count = index.deviceCount
    var (counted, weights) = (values, index.memory.map(Double.init))
    for device in limited {
      var isOptional: [Bool?] = Array(repeating: nil, count: index.weightBytes.count)
      for node in 0..<index.nodeCount where seconds[node * count + device].isFinite {
        let isForced = (0..<count).allSatisfy { $0 == device || !seconds[node * count + $0].isFinite }
        if isForced { counted[device] = max(counted[device], self.values[node]) }
        for weight in index.weights(of: node) where index.keeps(weight, on: device) {
          isOptional[weight] = !isForced && isOptional[weight] != false
        }
      }
      func bytes(_ optional: Bool) -> [Double] {
        isOptional.indices.filter { isOptional[$0] == optional }.map { Double(index.weightBytes[$0]) }
      }
      let forced = bytes(false).reduce(0, +)
      weights[device] = forced + Self.largestSum(of: bytes(true), within: weights[device] - counted[device] - forced)
    }
    return (counted, weights)
  }

  /// Returns the largest sum of some of `sizes` that is at most `room`. With too many sums, the smallest
  /// sizes may be divided.
  private static func largestSum(of sizes: [Double], within room: Double) -> Double {
    var sums = [0.0]
    var rest = sizes.reduce(0, +)
    guard rest > room else { return room }
    for size in sizes.sorted(by: >) where sums.count <= mostSums {
      rest -= size
      let more = sums.map { $0 + size }.filter { $0 <= room }
      sums = (sums + more).sorted().reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
    return sums.map { min(room, $0 + rest) }.max() ?? room
  }

  /// Finds the plan of least priced cost, and raises the bound by it.
  private mutating func plan(_ seconds: [Double], _ dual: inout Dual) -> LatencySearch.Found? {
    guard let found = plan(seconds, prices: dual.prices) else { return nil }
    let free = limited.reduce(0) { $0 + dual.prices[$1] * dual.capacities[$1] }
    dual.bound = max(dual.bound, found.lowerBound - free)
    return found
  }

  private mutating func plan(_ seconds: [Double], prices: [Double]) -> LatencySearch.Found? {
    var seconds = seconds
    for node in 0..<index.nodeCount {
      for device in limited where share(node, device) > 0 {
        seconds[node * index.deviceCount + device] += prices[device] * share(node, device)
      }
    }
    let found = try? search.placement(seconds: seconds)
    work += (found?.states ?? 0) + SearchBudget.least(index, words: search.frontier.words)
    if let found { consider(found) }
    return found
  }

  private mutating func consider(_ found: LatencySearch.Found) {
    guard best.map({ found.evaluation.total < $0.evaluation.total }) ?? true,
      memory.firstExcess(found.placement, found.evaluation) == nil
    else { return }
    best = found
  }

  /// Moves nodes with weights off the devices that they exceed, those first whose bytes cost least elsewhere.
  private mutating func repair(_ found: LatencySearch.Found) {
    let count = index.deviceCount
    var found = found
    var evaluated = 0
    // An evaluation takes about a third of the time of the smallest cut.
    defer { work += evaluated * SearchBudget.least(index, words: search.frontier.words) / 3 }
    while let (_, device) = memory.firstExcess(found.placement, found.evaluation) {
      let total = found.evaluation.total
      let totals = descent.totals(around: found.placement, total)
      let moves = totals.indices.filter { entry in
        let node = entry / count
        return found.placement[node] == device && entry % count != device && share(node, device) > 0
          && totals[entry].isFinite
      }
      func price(_ entry: Int) -> Double { (totals[entry] - total) / share(entry / count, device) }
      guard let move = moves.min(by: { price($0) < price($1) }) else { return }
      found.placement[move / count] = move % count
      guard let evaluation = Evaluation(index, found.placement) else { return }
      found.evaluation = evaluation
      evaluated += 1
    }
    evaluated += memory.improve(&found, search.deliveries)
    consider(found)
  }

  private func bytes(_ found: LatencySearch.Found, on device: Int) -> Double {
    found.placement.indices.reduce(0) { found.placement[$1] == device ? $0 + share($1, device) : $0 }
  }

  /// The cost with the prices of all devices but one.
  private func cost(_ found: LatencySearch.Found, _ prices: [Double], but device: Int) -> Double {
    limited.reduce(found.evaluation.total) { $1 == device ? $0 : $0 + prices[$1] * bytes(found, on: $1) }
  }
}
