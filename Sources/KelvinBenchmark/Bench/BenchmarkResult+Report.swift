import KelvinPlanning
package import KelvinProfiling

extension BenchmarkResult {
  /// The page for people: `HTMLReport.render` draws it.
  ///
  /// - Parameter generated: when it was measured, in words.
  package func report(generated: String) -> ReportInput {
    ReportInput(
      title: model.name.split(separator: "/").last.map(String.init) ?? model.name, verdict: verdict.sentences.last ?? "",
      findings: Array(verdict.sentences.dropLast()), kelvinVersion: kelvinVersion, generated: generated,
      machine: machine, model: model, workload: workload.description, devices: devices,
      configurations: zip(configurations.indices, configurations).map { row($1, at: $0) },
      placements: configurations.map(Self.placement),
      timelines: configurations.map { ReportTimeline(units: $0.label, events: $0.trace) },
      series: configurations.compactMap { configuration in
        configuration.sustained.map {
          ReportSeries(
            units: configuration.label, points: $0.points, heat: $0.heat, heatSource: configuration.thermalSource,
            fit: $0.fit)
        }
      }, notes: notes)
  }

  private func row(_ result: ConfigurationResult, at index: Int) -> ReportConfiguration {
    let latency = result.latency
    let sustained = result.sustained
    return ReportConfiguration(
      units: result.label, isRecommended: index == verdict.winner, load: result.load, compile: result.compile,
      first: result.first, p50: latency.p50, p90: latency.p90, p99: latency.p99, samples: latency.count,
      throughput: sustained?.throughput ?? (result.warm.mean > 0 ? 1 / result.warm.mean : nil), drift: sustained?.drift,
      dropped: sustained?.dropped ?? 0, thermal: result.thermal, thermalSource: result.thermalSource,
      agreement: result.agreement, comparison: comparisons[index], disturbedWindows: result.disturbedWindows)
  }

  private static func placement(_ result: ConfigurationResult) -> ReportPlacement {
    let explanation = result.explanation
    let ops = Dictionary(result.plan.nodes.map { ($0.name, $0.op) }) { first, _ in first }
    return ReportPlacement(
      units: result.label, goal: result.plan.goal.rawValue, predicted: explanation.solution.predicted,
      measured: result.warm.p50, bestSingleDevice: explanation.bestSingleDevice?.device ?? "",
      bestSingleSeconds: explanation.bestSingleDevice?.predicted,
      nodes: explanation.nodes.map { node in
        ReportNode(
          name: node.node, op: ops[node.node] ?? "", device: node.device, reason: node.reason, regret: node.regret,
          candidates: node.candidates.map { candidate in
            if let seconds = candidate.seconds {
              ReportCandidate(device: candidate.device, seconds: seconds, isMeasured: candidate.source == .measured)
            } else {
              ReportCandidate(device: candidate.device, unsupported: candidate.unsupported ?? "")
            }
          },
          transfers: node.transfers.map {
            ReportTransfer(value: $0.value, from: $0.from, to: $0.to, bytes: $0.bytes, seconds: $0.seconds)
          })
      })
  }
}
