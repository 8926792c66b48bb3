import KelvinDevices
import KelvinMeasurements
import KelvinRuntime

/// The costs of branches and loops beside the nodes and transfers in them.
extension NodeProfiler {
  /// Returns, by device, the cost of a segment start by control flow; for the host, the cost of a step. It is the time
  /// of inferences without timers beyond nodes and transfers, divided by the starts.
  ///
  /// The host comes first, because it takes part in every plan. Every second pair is used, so that predictions can be
  /// tested with the others.
  ///
  /// - Parameter profile: all other costs.
  /// - Returns: no entry for a device without starts.
  func startCosts(_ profile: MeasuredProfile, _ runs: [DeviceMeasurement]) -> [String: NodeCost] {
    let host = context.inventory.host.info
    let key = CostSheet.controlKey(threads: request.threads)
    let ids = Set(runs.flatMap { $0.placement.values } + [host.id])
    /// Returns the plan's prediction when a start costs one second on one device and nothing elsewhere.
    func predicted(_ run: DeviceMeasurement, charging device: String?) -> Double? {
      var costed = profile
      costed.nodes[key] = Dictionary(
        uniqueKeysWithValues: ids.map { id in
          let seconds = id == device ? 1.0 : 0
          return (
            id,
            NodeCost(
              seconds: seconds, interval: .init(lower: seconds, upper: seconds, confidence: 0), samples: 1,
              source: .stated)
          )
        })
      return predict(run.placement, CostSheet(costed))
    }
    var costs: [String: NodeCost] = [:]
    var atHost = CostSheet(profile).startCost(on: host, host: host, threads: request.threads).seconds
    let order = runs.filter { $0.device.info.id == host.id } + runs.filter { $0.device.info.id != host.id }
    for run in order where !run.pairs.isEmpty {
      let id = run.device.info.id
      guard let free = predicted(run, charging: nil), let charged = predicted(run, charging: id) else { continue }
      let starts = charged - free
      guard starts > 0 else { continue }
      var explained = free
      if id != host.id, let steps = predicted(run, charging: host.id) { explained += (steps - free) * atHost }
      let (indices, _) = run.counted(atLeast: options.fewestRounds)
      let telling = indices.filter { $0.isMultiple(of: 2) }
      let rest = (telling.isEmpty ? indices : telling).map { max(0, run.pairs[$0].plain - explained) / starts }
      guard let statistics = try? LatencyStatistics(rest) else { continue }
      costs[id] = NodeCost(
        statistics, source: .hostClock, bound: options.bound,
        joules: statistics.median * run.meter.power.dynamicWatts)
      if id == host.id { atHost = statistics.median }
    }
    return costs
  }
}
