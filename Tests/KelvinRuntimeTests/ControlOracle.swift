import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// The least cost of a graph with control flow by trying every placement, each priced from the regions themselves:
///
/// - The contents of a region count as often as the region is expected to run.
/// - A captured value is copied before the region begins.
/// - A carried value of a loop begins each iteration on one device.
/// - Each time that a region begins, the devices of its results are started: twice for a loop's iteration, once for a
///   branch's side. A loop without carried values starts the devices that work in its body.
struct ControlOracle {
  private let graph: Graph
  private let iterations: IterationEstimate
  private let problem: PlanningProblem
  private let seconds: [String: [String: Double]]
  private let links: [String: Double]
  /// The cost of starting a device, by branch or loop.
  private let starts: [String: [String: Double]]

  init(_ graph: Graph, _ iterations: IterationEstimate, _ problem: PlanningProblem) {
    self.graph = graph
    self.iterations = iterations
    self.problem = problem
    seconds = Dictionary(uniqueKeysWithValues: problem.nodes.map { ($0.id, $0.seconds) })
    starts = Dictionary(
      problem.nodes.flatMap { node in node.outputs.map { (node.id, $0.signalSeconds) } }.filter { !$0.1.isEmpty }
    ) { first, _ in first }
    links = Dictionary(uniqueKeysWithValues: problem.transfers.map { ("\($0.from)>\($0.to)", $0.latency) })
  }

  func least() -> Double {
    let names = problem.nodes.map(\.id)
    var best = Double.infinity
    var placement: [String: String] = [:]
    func place(_ index: Int) {
      guard index < names.count else {
        var price = Price(oracle: self, placement: placement)
        price.walk()
        if price.isPossible { best = min(best, price.total) }
        return
      }
      for device in problem.devices where seconds[names[index]]?[device] != nil {
        placement[names[index]] = device
        place(index + 1)
      }
    }
    place(0)
    return best
  }

  /// The cost of one placement.
  private struct Price {
    let oracle: ControlOracle
    let placement: [String: String]
    private(set) var isPossible = true
    private(set) var total = 0.0

    private final class Copies {
      let home: String
      let times: Double
      var needed: Set<String>
      init(_ home: String, _ times: Double) {
        self.home = home
        self.times = times
        needed = [home]
      }
    }
    private var all: [Copies] = []

    init(oracle: ControlOracle, placement: [String: String]) {
      self.oracle = oracle
      self.placement = placement
    }

    private mutating func value(_ home: String, _ times: Double) -> Copies {
      let copies = Copies(home, times)
      all.append(copies)
      return copies
    }

    private mutating func device(_ name: String) -> String {
      guard let device = placement[name], let cost = oracle.seconds[name]?[device] else {
        isPossible = false
        return oracle.problem.host
      }
      total += cost
      return device
    }

    /// Adds the host time of a branch or loop, and the time to start the devices of the values that it passes on.
    private mutating func start(_ control: String, _ devices: [String], _ times: Double) {
      _ = device(control)
      for device in Set(devices) where device != oracle.problem.host {
        total += times * (oracle.starts[control]?[device] ?? .infinity)
      }
    }

    mutating func walk() {
      let (graph, host) = (oracle.graph, oracle.problem.host)
      var values: [ValueID: Copies] = [:]
      for input in graph.inputs { values[input] = value(host, 1) }
      for state in graph.states { values[state.read] = value(device("\(state.name)#state"), 1) }
      _ = walk(graph, 1, &values)
      for output in graph.outputs { values[output]?.needed.insert(host) }
      for state in graph.states {
        guard let written = state.written else { continue }
        let home = device("\(state.name)#next")
        if home != values[state.read]?.home { isPossible = false }
        values[written]?.needed.insert(home)
      }
      for copies in all { total += copies.times * reach(copies.home, copies.needed) }
    }

    /// - Returns: the devices of the graph's own nodes.
    private mutating func walk(_ graph: Graph, _ times: Double, _ values: inout [ValueID: Copies]) -> [String] {
      let host = oracle.problem.host
      var own: [String] = []
      for node in graph.nodes {
        switch node.op {
        case is Branch:
          values[node.inputs[0]]?.needed.insert(host)
          var homes: [String] = []
          for (region, name) in zip(node.regions, ["then", "else"]) {
            var inside: [ValueID: Copies] = [:]
            for (id, capture) in zip(region.graph.inputs, region.captures) { inside[id] = values[node.inputs[capture]] }
            _ = walk(region.graph, times * 0.5, &inside)
            for (index, output) in region.graph.outputs.enumerated() {
              let home = device("\(node.name)#\(name)\(index)")
              inside[output]?.needed.insert(home)
              if index < homes.count, homes[index] != home { isPossible = false }
              if name == "then" { homes.append(home) }
            }
          }
          start(node.name, homes, times)
          for (output, home) in zip(node.outputs, homes) { values[output] = value(home, times) }
        case let loop as Loop:
          let limit = graph[node.inputs[0]].weight?.dense().integers.first
          let expected =
            limit.map { loop.isConditional ? min(Double($0), oracle.iterations.standard) : Double($0) }
            ?? oracle.iterations.standard
          values[node.inputs[0]]?.needed.insert(host)
          if loop.isConditional { values[node.inputs[1]]?.needed.insert(host) }
          let region = node.regions[0]
          var inside: [ValueID: Copies] = [:]
          inside[region.graph.inputs[0]] = value(host, times * expected)
          var homes: [String] = []
          for index in 0..<loop.carriedCount {
            let home = device("\(node.name)#enter\(index)")
            homes.append(home)
            own.append(home)
            values[node.inputs[loop.firstCarriedOperand + index]]?.needed.insert(home)
            inside[region.graph.inputs[1 + index]] = value(home, times * expected)
          }
          for (id, capture) in zip(region.graph.inputs.dropFirst(1 + loop.carriedCount), region.captures) {
            inside[id] = values[node.inputs[capture]]
          }
          let working = walk(region.graph, times * expected, &inside)
          start(node.name, homes.isEmpty ? working : homes, times * expected * 2)
          var outputs = region.graph.outputs[...]
          if loop.isConditional { inside[outputs.removeFirst()]?.needed.insert(host) }
          for (index, output) in outputs.prefix(loop.carriedCount).enumerated() {
            let home = device("\(node.name)#next\(index)")
            if home != homes[index] { isPossible = false }
            inside[output]?.needed.insert(home)
            values[node.outputs[index]] = value(home, times)
          }
          for row in outputs.dropFirst(loop.carriedCount) { inside[row]?.needed.insert(host) }
          for output in node.outputs.dropFirst(loop.carriedCount) { values[output] = value(host, times) }
        default:
          let place = device(node.name)
          own.append(place)
          for input in node.inputs { values[input]?.needed.insert(place) }
          for output in node.outputs { values[output] = value(place, times) }
        }
      }
      return own
    }

    /// The least cost of copies from a device until all that need the value have it.
    private func reach(_ home: String, _ needed: Set<String>, _ held: Set<String> = []) -> Double {
      let held = held.isEmpty ? [home] : held
      if needed.isSubset(of: held) { return 0 }
      var best = Double.infinity
      for to in oracle.problem.devices where !held.contains(to) {
        for from in held {
          let cost = oracle.links["\(from)>\(to)"] ?? .infinity
          best = min(best, cost + reach(home, needed, held.union([to])))
        }
      }
      return best
    }
  }
}
