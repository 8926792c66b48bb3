import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension NodeProfiler {
  /// Fits hand-over costs to the devices alone and to the alternating plans; nil when nothing has run.
  ///
  /// - Parameter rows: the costs of the nodes.
  func handOver(_ measured: Measured, _ flat: FlatGraph, _ rows: [ProfileResult.NodeRow]) -> HandOverFit? {
    let runs = measured.runs.filter { !$0.pairs.isEmpty }
    guard !runs.isEmpty else { return nil }
    // The fit uses every second pair, so that the others can test it.
    let alone = Dictionary(
      runs.compactMap { run in
        let indices = run.counted(atLeast: options.fewestRounds).indices
        let telling = indices.filter { $0.isMultiple(of: 2) }
        return run.nodeSamples(in: indices).whole(in: telling.isEmpty ? indices : telling).map {
          (run.device.info.id, $0)
        }
      }
    ) { first, _ in first }
    let counts = FlatCounts(flat, rows, host: context.inventory.host.info.id)
    var observations: [HandOverFit.Observation] = []
    for run in runs {
      guard let whole = alone[run.device.info.id] else { continue }
      var observation = counts.observation(run.solution, whole.median, bare: measured.bareCopies, isMixed: false)
      // A difference within the noise of the whole is not attributed to dispatch.
      if whole.medianInterval.contains(observation.explained) { observation.measured = observation.explained }
      observations.append(observation)
    }
    let usual = alone.mapValues(\.median)
    for mix in measured.mixes {
      let (seconds, _) = mix.seconds(atLeast: options.fewestRounds, usual: usual)
      guard let median = try? LatencyStatistics(seconds).median else { continue }
      observations.append(counts.observation(mix.solution, median, bare: measured.bareCopies, isMixed: true))
    }
    return HandOverFit(observations)
  }
}

/// Counts of the events that incur hand-over costs in a plan of one graph.
private struct FlatCounts {
  private let nodes: [(name: String, iterations: Double, seconds: [String: Double])]
  private let controls: [(name: String, starts: Double)]
  /// The number of copies of each value in one inference.
  private let copies: [String: Double]
  private let host: String

  init(_ flat: FlatGraph, _ rows: [ProfileResult.NodeRow], host: String) {
    self.host = host
    nodes = zip(flat.graph.nodes, rows).map { node, row in
      (name: node.name, iterations: row.iterations, seconds: row.costs.mapValues(\.seconds))
    }
    controls = flat.controls.map { ($0.name, $0.turns * $0.kind.startsEachTurn) }
    var copies = Dictionary(
      flat.graph.values.indices.map { index in
        (flat.graph.values[index].name, flat.copies[index])
      }
    ) { first, _ in first }
    for control in flat.controls { copies[control.signal] = control.turns * control.kind.startsEachTurn }
    self.copies = copies
  }

  func observation(
    _ solution: PlanSolution, _ seconds: Double, bare: [HandOverFit.Link: TransferFit], isMixed: Bool
  ) -> HandOverFit.Observation {
    var observation = HandOverFit.Observation(isMixed: isMixed, measured: seconds, explained: 0)
    for node in nodes {
      guard let device = solution.placement[node.name] else { continue }
      observation.explained += node.iterations * (node.seconds[device] ?? 0)
      observation.dispatches[device, default: 0] += node.iterations
    }
    // On a host that executes control flow, starts include the dispatch of nodes.
    if !controls.isEmpty { observation.dispatches[host] = nil }
    for control in controls { observation.starts[host, default: 0] += control.starts }
    for transfer in solution.transfers {
      let times = copies[transfer.value] ?? 1
      if transfer.isSignal == true {
        observation.starts[transfer.to, default: 0] += times
        continue
      }
      if let fit = bare[.init(from: transfer.from, to: transfer.to)] {
        observation.explained += times * (fit.latency + Double(transfer.bytes) / fit.bytesPerSecond)
      }
      for link in HandOverFit.Link(from: transfer.from, to: transfer.to).byHost(host) {
        var copied = observation.copies[link] ?? (0, 0)
        copied.count += times
        copied.bytes += times * Double(transfer.bytes)
        observation.copies[link] = copied
      }
    }
    return observation
  }
}

extension HandOverFit.Link {
  /// Returns the links that a value takes; through the host when neither end is the host.
  func byHost(_ host: String) -> [HandOverFit.Link] {
    from == host || to == host ? [self] : [.init(from: from, to: host), .init(from: host, to: to)]
  }
}

extension HandOverFit {
  /// Returns the cost beyond the bare copy, in seconds per value and per byte.
  func extra(_ link: Link, host: String) -> (latency: Double, secondsPerByte: Double) {
    link.byHost(host).reduce(into: (0, 0)) { sum, link in
      sum.0 += latency[link] ?? 0
      sum.1 += secondsPerByte[link] ?? 0
    }
  }
}
