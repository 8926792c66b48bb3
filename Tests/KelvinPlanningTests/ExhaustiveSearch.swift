import KelvinPlanning

/// The least total over every placement and every schedule of copies, by trying them all. Shares nothing with the
/// planner but the problem's fields.
struct ExhaustiveSearch {
  let problem: PlanningProblem
  private let number: [String: Int]
  private var copyTables: [String: [Double]] = [:]

  init(_ problem: PlanningProblem) {
    self.problem = problem
    number = Dictionary(uniqueKeysWithValues: problem.devices.enumerated().map { ($1, $0) })
  }

  private func link(_ from: String, _ to: String, _ value: PlanningProblem.Value) -> Double? {
    guard value.copies.isFinite else { return nil }
    for name in [from, to] where problem.exclude.contains(name) && name != problem.host { return nil }
    guard let transfer = problem.transfers.first(where: { $0.from == from && $0.to == to }) else { return nil }
    if !value.signalSeconds.isEmpty { return value.copies * (value.signalSeconds[to] ?? 0) }
    return value.copies
      * (transfer.latency + (transfer.bytesPerSecond.map { Double(value.bytes) / $0 } ?? 0)
        + (problem.boundarySeconds[to] ?? 0))
  }

  /// Least cost of having copies on at least `set`, from one copy on `root`, entry `root << devices | set`: shortest
  /// paths over the sets of devices that hold a copy.
  private func copyTable(_ value: PlanningProblem.Value) -> [Double] {
    let count = problem.devices.count
    let sets = 1 << count
    var table = Array(repeating: Double.infinity, count: count * sets)
    for root in 0..<count {
      var distance = Array(repeating: Double.infinity, count: sets)
      var done = Array(repeating: false, count: sets)
      distance[1 << root] = 0
      while let set = (0..<sets).filter({ !done[$0] && distance[$0].isFinite }).min(by: { distance[$0] < distance[$1] })
      {
        done[set] = true
        for from in 0..<count where set & (1 << from) != 0 {
          for to in 0..<count where set & (1 << to) == 0 {
            guard let seconds = link(problem.devices[from], problem.devices[to], value) else { continue }
            distance[set | 1 << to] = min(distance[set | 1 << to], distance[set] + seconds)
          }
        }
      }
      for wanted in 0..<sets {
        for held in 0..<sets where held & wanted == wanted {
          table[root * sets + wanted] = min(table[root * sets + wanted], distance[held])
        }
      }
    }
    return table
  }

  /// - Returns: infinity when nothing is feasible.
  func least() -> Double {
    let sets = 1 << problem.devices.count
    guard let host = number[problem.host] else { return .infinity }
    var producer: [String: Int] = [:]
    var sizes = problem.inputs
    for (i, node) in problem.nodes.enumerated() {
      for output in node.outputs {
        producer[output.value] = i
        sizes.append(output)
      }
    }
    let tables = sizes.map(copyTable)
    let consumers = sizes.map { size in problem.nodes.indices.filter { problem.nodes[$0].inputs.contains(size.value) } }
    let choices = problem.nodes.map { node in
      problem.devices.indices.filter { device in
        let name = problem.devices[device]
        return node.seconds[name] != nil && !problem.exclude.contains(name) && (problem.pins[node.id] ?? name) == name
      }
    }
    let roots = sizes.map { producer[$0.value] }
    let wantsHost = sizes.map { problem.outputs.contains($0.value) ? 1 << host : 0 }
    let seconds = problem.nodes.map { node in problem.devices.map { node.seconds[$0] ?? .infinity } }
    var placement = Array(repeating: 0, count: problem.nodes.count)
    var best = Double.infinity
    func place(_ node: Int, _ sum: Double) {
      guard node < placement.count else {
        var total = sum
        for value in sizes.indices {
          var wanted = wantsHost[value]
          for consumer in consumers[value] { wanted |= 1 << placement[consumer] }
          total += tables[value][(roots[value].map { placement[$0] } ?? host) * sets + wanted]
        }
        best = min(best, total)
        return
      }
      for device in choices[node] {
        placement[node] = device
        place(node + 1, sum + seconds[node][device])
      }
    }
    place(0, 0)
    return best
  }

  /// Returns the error of an answer, replayed copy by copy; `nil` if it is valid.
  func flaw(in solution: PlanSolution) -> String? {
    guard solution.placement.count == problem.nodes.count else { return "a node is missing" }
    var sum = 0.0
    var holders: [String: Set<String>] = [:]
    var sizes: [String: PlanningProblem.Value] = [:]
    for input in problem.inputs {
      holders[input.value] = [problem.host]
      sizes[input.value] = input
    }
    for node in problem.nodes {
      guard let device = solution.placement[node.id], let seconds = node.seconds[device] else {
        return "\(node.id) runs where it cannot"
      }
      if problem.exclude.contains(device) { return "\(node.id) runs on an excluded device" }
      if let pin = problem.pins[node.id], pin != device { return "\(node.id) is not where it is pinned" }
      sum += seconds
      for output in node.outputs {
        holders[output.value] = [device]
        sizes[output.value] = output
      }
    }
    for transfer in solution.transfers {
      guard let size = sizes[transfer.value], size.bytes == transfer.bytes else {
        return "\(transfer.value) has other bytes"
      }
      guard let seconds = link(transfer.from, transfer.to, size), abs(seconds - transfer.seconds) < 1e-12 else {
        return "a copy of \(transfer.value) costs something else"
      }
      guard holders[transfer.value]?.contains(transfer.from) == true else {
        return "\(transfer.value) copied from nowhere"
      }
      guard holders[transfer.value]?.insert(transfer.to).inserted == true else {
        return "\(transfer.value) copied twice"
      }
      guard let node = problem.nodes.first(where: { $0.id == transfer.node }),
        node.inputs.contains(transfer.value) || node.outputs.contains(where: { $0.value == transfer.value })
      else { return "a copy of \(transfer.value) has no owner" }
      sum += transfer.seconds
    }
    for id in solution.streamed ?? [] {
      guard let node = problem.nodes.first(where: { $0.id == id }), let device = solution.placement[id],
        let seconds = node.streamSeconds[device]
      else { return "\(id) streams weights that stay" }
      sum += seconds
    }
    for node in problem.nodes {
      for value in node.inputs where holders[value]?.contains(solution.placement[node.id] ?? "") != true {
        return "\(node.id) lacks \(value)"
      }
    }
    for value in problem.outputs where holders[value]?.contains(problem.host) != true {
      return "\(value) is not on the host"
    }
    return abs(sum - solution.predicted) < 1e-9 ? nil : "predicted \(solution.predicted), sums to \(sum)"
  }
}
