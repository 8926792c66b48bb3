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

  /// The least largest load, power's included where the problem has a budget and `power` says so.
  func leastLargestLoad(power: Bool) -> Double {
    var names: [String] = []
    let resource = problem.devices.map { device -> Int in
      let name = problem.resource[device] ?? device
      if let known = names.firstIndex(of: name) { return known }
      names.append(name)
      return names.count - 1
    }
    let loads = names.count + 1
    let spare = problem.power.map { $0.sustainableWatts - $0.idleWatts } ?? .infinity
    var best = Double.infinity
    forEachPlacement { placement, values in
      var base = Array(repeating: 0.0, count: loads)
      for (node, device) in placement.enumerated() {
        let name = problem.devices[device]
        base[resource[device]] += problem.nodes[node].seconds[name] ?? .infinity
        if power { base[loads - 1] += (problem.nodes[node].joules[name] ?? .infinity) / spare }
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
              if power { sum[loads - 1] += seconds * watts(from, to) / spare }
            }
            if (sum.max() ?? 0) < best, !next.contains(where: { zip($0, sum).allSatisfy { $0 <= $1 } }) {
              next.append(sum)
            }
          }
        }
        vectors = next
        if vectors.isEmpty { return }
      }
      for vector in vectors { best = min(best, vector.max() ?? 0) }
    }
    return best
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
