import KelvinGraph
package import KelvinPlanning
package import KelvinProfiling
package import KelvinRuntime

extension BenchmarkResult {
  /// The page for people: `HTMLReport.render` draws it.
  ///
  /// - Parameter generated: when it was measured, in words.
  package func report(generated: String) -> ReportInput {
    ReportInput(
      title: model.name.split(separator: "/").last.map(String.init) ?? model.name,
      verdict: verdict.sentences.last ?? "",
      findings: Array(verdict.sentences.dropLast()), kelvinVersion: kelvinVersion, generated: generated,
      machine: machine, model: model, workload: workload.description, devices: devices,
      configurations: zip(configurations.indices, configurations).map { row($1, at: $0) },
      placements: configurations.map {
        ReportPlacement(units: $0.label, explanation: $0.explanation, plan: $0.plan, measured: $0.warm?.p50)
      },
      timelines: configurations.map { ReportTimeline(units: $0.label, events: $0.trace) },
      series: configurations.compactMap { configuration in
        configuration.sustained.map {
          ReportSeries(
            units: configuration.label, points: $0.points, heat: $0.heat, heatSource: configuration.thermalSource,
            fit: $0.fit, actions: $0.actions.map { .init(at: $0.at, name: $0.what, cause: $0.cause) })
        }
      }, notes: notes)
  }

  private func row(_ result: ConfigurationResult, at index: Int) -> ReportConfiguration {
    let latency = result.latency
    let sustained = result.sustained
    return ReportConfiguration(
      units: result.label, isRecommended: index == verdict.winner, load: result.load, compile: result.compile,
      first: result.first, p50: latency?.p50, p90: latency?.p90, p99: latency?.p99,
      p50Interval: latency?.medianInterval, samples: latency?.count ?? 0,
      throughput: result.throughput, drift: sustained?.drift,
      dropped: sustained?.dropped ?? 0, thermal: result.thermal, thermalSource: result.thermalSource,
      agreement: result.agreement, comparison: comparisons[index], disturbedWindows: result.disturbedWindows,
      joules: sustained?.joulesPerInference, energySource: sustained?.energySource ?? "")
  }
}

extension ReportPlacement {
  /// A plan as reports show it.
  ///
  /// - Parameter measured: seconds of one warm inference, where it ran.
  package init(units: String, explanation: PlanExplanation, plan: Plan, measured: Double?) {
    let records = Dictionary(plan.nodes.map { ($0.name, $0) }) { first, _ in first }
    self.init(
      units: units, goal: plan.goal.rawValue, predicted: explanation.solution.predicted, measured: measured,
      bestSingleDevice: explanation.bestSingleDevice?.device ?? "",
      bestSingleSeconds: explanation.bestSingleDevice?.predicted,
      nodes: explanation.nodes.map { node in
        ReportNode(
          name: node.node, op: records[node.node]?.op ?? "", inputs: records[node.node]?.inputs ?? [],
          device: node.device, reason: node.reason, regret: node.regret,
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

extension ReportModel {
  /// A model as reports show it.
  package init(_ context: ModelContext, format: String) {
    let graph = context.graph
    self.init(
      name: context.name, format: format, layers: graph.nodes.count,
      weightBytes: WeightReport(graph).storedBytes)
  }
}

extension BenchmarkResult {
  /// One inference of each configuration one after the other, and the heat of the long runs.
  package var trace: Trace {
    var trace = Trace()
    var offset = 0.0
    for configuration in configurations {
      trace.marks.append(TraceMark(name: "one inference, \(configuration.label)", at: offset))
      for event in configuration.trace {
        var moved = event
        moved.start += offset
        trace.events.append(moved)
      }
      offset += (configuration.trace.map(\.end).max() ?? 0) * 1.1
    }
    for configuration in configurations {
      for point in configuration.sustained?.heat ?? [] {
        let values = ["headroom": point.headroom, "state": Double(point.state.rawValue)]
        trace.counters.append(TraceCounter(name: "heat, \(configuration.label)", at: point.at, values: values))
      }
      for action in configuration.sustained?.actions ?? [] { trace.record(action) }
    }
    return trace
  }
}
