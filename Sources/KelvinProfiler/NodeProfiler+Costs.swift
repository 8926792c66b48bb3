import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinRuntime

extension NodeProfiler {
  /// Returns the costs of each node for people, and of each key for the profile, where samples of identical nodes are
  /// pooled.
  ///
  /// - Parameter flat: the model with expanded control flow, at the measured iteration counts.
  func nodeCosts(
    _ flat: FlatGraph, _ runs: [DeviceMeasurement]
  ) -> (rows: [ProfileResult.NodeRow], costs: [String: [String: NodeCost]], works: [String: NodeWork]) {
    struct Pool {
      var samples: [Double] = []
      var source = TimingSource.hostClock
      var cold: [Double] = []
      var compile: [Double] = []
    }
    var rows: [ProfileResult.NodeRow] = []
    var works: [String: NodeWork] = [:]
    var pooled: [String: [String: Pool]] = [:]
    let counted = runs.map { $0.counted(atLeast: options.fewestRounds).indices }
    let samples = zip(runs, counted).map { $0.nodeSamples(in: $1).byNode }
    for (index, node) in flat.graph.nodes.enumerated() {
      works[commonKey(node, in: flat.graph)] = CostSheet.work(node, in: flat.graph)
      var row = ProfileResult.NodeRow(
        name: node.name, op: node.op.name, origins: node.originShares.map { ($0.origin.name, $0.share) }, costs: [:],
        unsupported: [:], region: flat.places[index].region, iterations: flat.places[index].iterations)
      for (run, samples) in zip(runs, samples) {
        let id = run.device.info.id
        guard run.nodesHere.contains(node.name) else {
          let support = run.device.support(for: node, in: flat.graph, precision: request.precision)
          if case .unsupported(let reason) = support { row.unsupported[id] = reason }
          continue
        }
        let samples = samples[node.name] ?? []
        guard let statistics = try? LatencyStatistics(samples) else { continue }
        let source: TimingSource = run.clocks[node.name] == .device ? .deviceTimestamps : .hostClock
        row.costs[id] = cost(
          statistics, source, cold: run.coldSeconds[node.name], compile: run.compileSeconds[node.name],
          run.meter.power)
        let key = key(node, in: flat.graph, on: run.device)
        works[key] = CostSheet.work(node, in: flat.graph)
        var pool = pooled[key, default: [:]][id] ?? Pool()
        pool.samples += samples
        pool.source = source
        run.coldSeconds[node.name].map { pool.cold.append($0) }
        run.compileSeconds[node.name].map { pool.compile.append($0) }
        pooled[key, default: [:]][id] = pool
      }
      rows.append(row)
    }
    var costs: [String: [String: NodeCost]] = [:]
    let powers = Dictionary(runs.map { ($0.device.info.id, $0.meter.power) }) { first, _ in first }
    for (key, byDevice) in pooled {
      for (id, pool) in byDevice {
        guard let statistics = try? LatencyStatistics(pool.samples), let power = powers[id] else { continue }
        costs[key, default: [:]][id] = cost(
          statistics, pool.source, cold: try? LatencyStatistics(pool.cold).median,
          compile: try? LatencyStatistics(pool.compile).median, power)
      }
    }
    return (rows, costs, works)
  }

  /// Returns the key of a node's cost on a device.
  func key(_ node: Node, in graph: Graph, on device: any Device) -> String {
    CostSheet.key(node, in: graph, on: device, asking: request.precision, threads: request.threads)
  }

  /// Returns the key on devices that compute in float32 at every requested precision.
  func commonKey(_ node: Node, in graph: Graph) -> String {
    CostSheet.key(node, in: graph, computedIn: .full, threads: request.threads)
  }

  private func cost(
    _ statistics: LatencyStatistics, _ source: TimingSource, cold: Double?, compile: Double?, _ power: DevicePower
  ) -> NodeCost {
    // The energy of work whose power was not told from rest is unknown, not 0.
    let joules = power.dynamicWatts > 0 ? statistics.median * power.dynamicWatts : nil
    var cost = NodeCost(statistics, source: source, bound: options.bound, joules: joules)
    cost.cold = cold
    cost.compile = compile.map { max(0, $0) }
    return cost
  }
}
