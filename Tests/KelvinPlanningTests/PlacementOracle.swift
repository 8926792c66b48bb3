import KelvinPlanning

/// Every placement and every tree of copies of a problem, by trying them all. Shares nothing with the planner but the
/// problem's fields.
struct PlacementOracle {
  /// One route by which a value is copied to where it is needed.
  struct Way {
    var copies: [(from: Int, to: Int)]
  }

  let problem: PlanningProblem
  private let host: Int
  private var links: [Int: (latency: Double, secondsPerByte: Double, watts: Double)] = [:]
  private var sizes: [(value: PlanningProblem.Value, producer: Int?)] = []
  private var wants: [[Int]] = []
  private let count: Int

  init(_ problem: PlanningProblem) {
    self.problem = problem
    let number = Dictionary(uniqueKeysWithValues: problem.devices.enumerated().map { ($1, $0) })
    count = problem.devices.count
    host = number[problem.host] ?? 0
    for link in problem.transfers {
      guard let from = number[link.from], let to = number[link.to], from != to else { continue }
      if [link.from, link.to].contains(where: { problem.exclude.contains($0) && $0 != problem.host }) { continue }
      links[from * count + to] = (
        link.latency + (problem.boundarySeconds[link.to] ?? 0), link.bytesPerSecond.map { 1 / $0 } ?? 0,
        link.watts ?? 0
      )
    }
    sizes = problem.inputs.map { ($0, nil) }
    for (i, node) in problem.nodes.enumerated() { sizes += node.outputs.map { ($0, i) } }
    wants = sizes.map { size in problem.nodes.indices.filter { problem.nodes[$0].inputs.contains(size.value.value) } }
  }

  /// Every set of copies by which a value on `root` reaches `targets`, each copy made from one that exists.
  private func ways(root: Int, targets: Int) -> [Way] {
    var found: [Way] = []
    var seen: Set<[Int]> = []
    func extend(_ held: Int, _ way: Way) {
      guard seen.insert(way.copies.map { $0.from * count + $0.to }.sorted()).inserted else { return }
      if held & targets == targets { found.append(way) }
      for to in 0..<count where held & (1 << to) == 0 {
        for from in 0..<count where held & (1 << from) != 0 && links[from * count + to] != nil {
          extend(held | 1 << to, Way(copies: way.copies + [(from, to)]))
        }
      }
    }
    extend(1 << root, Way(copies: []))
    return found
  }

  func copySeconds(_ value: PlanningProblem.Value, _ from: Int, _ to: Int) -> Double {
    guard let link = links[from * count + to] else { return .infinity }
    if !value.signalSeconds.isEmpty { return value.copies * (value.signalSeconds[problem.devices[to]] ?? 0) }
    return value.copies * (link.latency + Double(value.bytes) * link.secondsPerByte)
  }

  func watts(_ from: Int, _ to: Int) -> Double { links[from * count + to]?.watts ?? 0 }

  /// Visits every placement with, for each value, its bytes and its routes; values without routes are left out.
  func forEachPlacement(_ visit: (_ placement: [Int], _ values: [(value: PlanningProblem.Value, ways: [Way])]) -> Void)
  {
    var table: [Int: [Way]] = [:]
    for root in 0..<count {
      for targets in 0..<(1 << count) { table[root << count | targets] = ways(root: root, targets: targets) }
    }
    var placement = Array(repeating: 0, count: problem.nodes.count)
    func place(_ node: Int) {
      guard node < placement.count else {
        var values: [(value: PlanningProblem.Value, ways: [Way])] = []
        for (value, size) in sizes.enumerated() {
          var targets = problem.outputs.contains(size.value.value) ? 1 << host : 0
          for reader in wants[value] { targets |= 1 << placement[reader] }
          var ways = table[(size.producer.map { placement[$0] } ?? host) << count | targets] ?? []
          if size.value.copies == .infinity { ways.removeAll { !$0.copies.isEmpty } }
          if ways.isEmpty { return }
          values.append((size.value, ways))
        }
        visit(placement, values)
        return
      }
      let record = problem.nodes[node]
      for (device, name) in problem.devices.enumerated() {
        guard record.seconds[name] != nil, !problem.exclude.contains(name), (problem.pins[record.id] ?? name) == name
        else { continue }
        placement[node] = device
        place(node + 1)
      }
    }
    place(0)
  }

  /// The loads of every placement with every route: seconds of each resource, and of power where `power` says so.
  /// Loads that are nowhere below those of another are left out.
  func loads(power: Bool) -> [[Double]] {
    let (resource, count) = resources
    let spare = problem.power.map { $0.sustainableWatts - $0.idleWatts } ?? .infinity
    func isBeaten(_ loads: [Double], by others: [[Double]]) -> Bool {
      others.contains { zip($0, loads).allSatisfy { $0 <= $1 } }
    }
    var best: [[Double]] = []
    forEachPlacement { placement, values in
      var base = Array(repeating: 0.0, count: count + 1)
      for (node, device) in placement.enumerated() {
        let name = problem.devices[device]
        base[resource[device]] += problem.nodes[node].seconds[name] ?? .infinity
        if power { base[count] += (problem.nodes[node].joules[name] ?? .infinity) / spare }
      }
      var vectors = [base]
      for (value, ways) in values {
        var next: [[Double]] = []
        for vector in vectors {
          for way in ways {
            var sum = vector
            for (from, to) in way.copies {
              let seconds = copySeconds(value, from, to)
              sum[resource[from]] += seconds
              if resource[to] != resource[from] { sum[resource[to]] += seconds }
              if power { sum[count] += seconds * watts(from, to) / spare }
            }
            if !isBeaten(sum, by: best), !isBeaten(sum, by: next) { next.append(sum) }
          }
        }
        vectors = next
      }
      for vector in vectors where !isBeaten(vector, by: best) {
        best.removeAll { isBeaten($0, by: [vector]) }
        best.append(vector)
      }
    }
    return best
  }

  /// The loads of a given plan: seconds of each resource, and of power if the problem has a budget.
  func loads(of plan: PlanSolution) -> [Double] {
    let (resource, count) = resources
    let number = Dictionary(uniqueKeysWithValues: problem.devices.enumerated().map { ($1, $0) })
    let spare = problem.power.map { $0.sustainableWatts - $0.idleWatts } ?? .infinity
    var loads = Array(repeating: 0.0, count: count + 1)
    for node in problem.nodes {
      guard let name = plan.placement[node.id], let device = number[name] else { continue }
      loads[resource[device]] += node.seconds[name] ?? .infinity
      loads[count] += (node.joules[name] ?? 0) / spare
    }
    for copy in plan.transfers {
      guard let from = number[copy.from], let to = number[copy.to] else { continue }
      for end in Set([resource[from], resource[to]]) { loads[end] += copy.seconds }
      loads[count] += copy.seconds * watts(from, to) / spare
    }
    return loads
  }

  /// The resource of each device, and their number.
  var resources: (ofDevice: [Int], count: Int) {
    var names: [String] = []
    let numbers = problem.devices.map { device -> Int in
      let name = problem.resource[device] ?? device
      if let known = names.firstIndex(of: name) { return known }
      names.append(name)
      return names.count - 1
    }
    return (numbers, names.count)
  }

  /// The least largest mean load over all mixtures of plans, from below and to 1 part in 10⁵: the largest least weighted
  /// load over all weights. It is concave in the weights, so each is found by golden sections, within the best of those
  /// after it.
  ///
  /// - Parameter plans: the loads of every plan.
  static func leastMeanLoad(_ plans: [[Double]]) -> Double {
    let used = (plans.first ?? []).indices.filter { load in plans.contains { $0[load] > 0 } }
    guard !plans.isEmpty, !used.isEmpty else { return plans.isEmpty ? .infinity : 0 }
    var weights = used.map { _ in 0.0 }
    func best(_ place: Int, left: Double) -> Double {
      guard place < used.count - 1 else {
        weights[place] = left
        var least = Double.infinity
        for plan in plans {
          var sum = 0.0
          for (load, weight) in zip(used, weights) { sum += weight * plan[load] }
          least = min(least, sum)
        }
        return least
      }
      func value(_ weight: Double) -> Double {
        weights[place] = weight
        return best(place + 1, left: left - weight)
      }
      let golden = 0.6180339887498949
      var (low, high) = (0.0, left)
      var (one, two) = (high - golden * (high - low), low + golden * (high - low))
      var (atOne, atTwo) = (value(one), value(two))
      var most = max(atOne, atTwo)
      for _ in 0..<32 {
        if atOne < atTwo {
          (low, one, atOne) = (one, two, atTwo)
          two = low + golden * (high - low)
          atTwo = value(two)
        } else {
          (high, two, atTwo) = (two, one, atOne)
          one = high - golden * (high - low)
          atOne = value(one)
        }
        most = max(most, atOne, atTwo)
      }
      return most
    }
    return best(0, left: 1)
  }

  /// Whether no mixture has a smaller largest mean load than that of the plans `mixed`. The proof are weights of the
  /// largest loads under which no plan is better; as many of these plans as weights are equal under them.
  static func isLeast(_ load: Double, _ mixed: [[Double]], among plans: [[Double]], largest: [Int]) -> Bool {
    (1..<(1 << largest.count)).contains { set in
      let loads = largest.indices.filter { set & (1 << $0) != 0 }.map { largest[$0] }
      return (1..<(1 << mixed.count)).contains { chosen in
        let equal = mixed.indices.filter { chosen & (1 << $0) != 0 }.map { mixed[$0] }
        guard equal.count == loads.count else { return false }
        var rows = equal.dropLast().map { plan in loads.map { plan[$0] - (equal.last?[$0] ?? 0) } + [0] }
        rows.append(loads.map { _ in 1 } + [1])
        guard let weights = solved(rows), weights.allSatisfy({ $0 > -1e-9 }) else { return false }
        let least = plans.map { plan in zip(loads, weights).reduce(0) { $0 + $1.1 * plan[$1.0] } }.min() ?? 0
        return least >= load * (1 - 3e-9)
      }
    }
  }

  /// Solves linear equations, each row with its right side last; nil if they have not exactly one solution.
  private static func solved(_ equations: [[Double]]) -> [Double]? {
    var rows = equations
    for pivot in rows.indices {
      guard let row = (pivot..<rows.count).max(by: { abs(rows[$0][pivot]) < abs(rows[$1][pivot]) }),
        abs(rows[row][pivot]) > 1e-12
      else { return nil }
      rows.swapAt(pivot, row)
      for other in rows.indices where other != pivot {
        let factor = rows[other][pivot] / rows[pivot][pivot]
        for column in pivot...rows.count { rows[other][column] -= factor * rows[pivot][column] }
      }
    }
    return rows.indices.map { rows[$0][rows.count] / rows[$0][$0] }
  }

  /// The least of all that a one-shot program pays with `runs` inferences after the first, for each of `runs`.
  func leastOneShot(_ runs: [Int]) -> [Double] {
    var best = Array(repeating: Double.infinity, count: runs.count)
    let start = problem.start ?? .init()
    forEachPlacement { placement, values in
      var seconds = 0.0
      var paid = start.load
      var used = 0
      for (node, device) in placement.enumerated() {
        let name = problem.devices[device]
        seconds += problem.nodes[node].seconds[name] ?? .infinity
        paid += problem.nodes[node].startSeconds[name] ?? 0
        used |= 1 << device
      }
      var least = [used: seconds]
      for (value, ways) in values {
        var next: [Int: Double] = [:]
        for (mask, sum) in least {
          for way in ways {
            var devices = mask
            var total = sum
            for (from, to) in way.copies {
              total += copySeconds(value, from, to)
              if to != host { devices |= 1 << to }
            }
            next[devices] = min(next[devices] ?? .infinity, total)
          }
        }
        least = next
      }
      for (mask, sum) in least {
        var all = paid
        for (device, name) in problem.devices.enumerated() where mask & (1 << device) != 0 {
          all += start.devices[name] ?? 0
        }
        for (i, count) in runs.enumerated() { best[i] = min(best[i], all + Double(1 + count) * sum) }
      }
    }
    return best
  }
}
