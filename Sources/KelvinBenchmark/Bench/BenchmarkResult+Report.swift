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
      series: configurations.compactMap(series), notes: notes + (interruption.map { [$0] } ?? []))
  }

  private func series(_ configuration: ConfigurationResult) -> ReportSeries? {
    configuration.sustained.map { sustained in
      ReportSeries(
        units: configuration.label, points: sustained.points, heat: sustained.heat,
        heatSource: configuration.thermalSource, fit: sustained.fit,
        actions: sustained.actions.map { .init(at: $0.at, name: $0.what, cause: $0.cause) },
        disturbances: disturbances(configuration))
    }
  }

  /// The disturbed rounds of the load that goes on, in the configuration's own time.
  private func disturbances(_ configuration: ConfigurationResult) -> [ReportSeries.Disturbance] {
    let disturbed = disturbedRounds[.sustained] ?? []
    var stretches: [Int: ReportSeries.Disturbance] = [:]
    for sample in configuration.samples where sample.phase == .sustained && disturbed.contains(sample.round) {
      guard let at = sample.at else { continue }
      let known = stretches[sample.round] ?? .init(from: at, to: at)
      stretches[sample.round] = .init(from: min(known.from, at), to: max(known.to, at + sample.seconds))
    }
    return stretches.sorted { $0.key < $1.key }.map(\.value)
  }

  private func row(_ result: ConfigurationResult, at index: Int) -> ReportConfiguration {
    let latency = result.latency
    let sustained = result.sustained
    return ReportConfiguration(
      units: result.label, isRecommended: index == verdict.winner, load: result.load, compile: result.compile,
      first: result.first, p50: latency?.p50, p90: latency?.p90, p99: latency?.p99,
      p50Interval: latency?.medianInterval, samples: latency?.count ?? 0, throughput: result.throughput,
      drift: sustained?.drift, dropped: sustained?.dropped ?? 0, thermal: result.thermal,
      thermalSource: result.thermalSource, agreement: result.agreement, comparison: comparisons[index],
      disturbedWindows: result.disturbedWindows, joules: sustained?.joulesPerInference,
      energySource: sustained?.energySource ?? "", facts: facts(result))
  }

  private func facts(_ result: ConfigurationResult) -> [ReportFact] {
    var facts: [ReportFact] = []
    if let failure = result.failure { facts.append(ReportFact("not measured to the end", failure)) }
    if let cold = result.coldTotal { facts.append(ReportFact("cold start", HumanReadable.seconds(cold))) }
    if let pipeline = result.sustained?.pipeline { facts.append(ReportFact("in flight", "\(pipeline.inFlight)")) }
    if let skipped = result.sustained?.skipped, skipped > 0 {
      facts.append(ReportFact("skipped by the governor", "\(skipped)"))
    }
    if let claim = result.earlyStopping?.estimate {
      facts.append(ReportFact("p90 as MLPerf claims it", HumanReadable.seconds(claim)))
    }
    return facts
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
      bestSingleSeconds: explanation.bestSingleDevice?.predicted, facts: Self.facts(explanation.solution),
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

  private static func facts(_ solution: PlanSolution) -> [ReportFact] {
    var facts: [ReportFact] = []
    if solution.method == .approximate {
      facts.append(ReportFact("at most off the optimum", HumanReadable.percent(solution.gap)))
    }
    if let bottleneck = solution.bottleneck {
      facts.append(ReportFact("bottleneck", "\(bottleneck.resource), \(HumanReadable.seconds(bottleneck.seconds))"))
    }
    if let rate = solution.framesPerSecond {
      let limit = solution.limitedBy.map { ", limited by \($0)" } ?? ""
      facts.append(ReportFact("predicted rate", HumanReadable.perSecond(rate) + limit))
    }
    if let start = solution.startSeconds { facts.append(ReportFact("paid once", HumanReadable.seconds(start))) }
    if let joules = solution.joules {
      facts.append(ReportFact("energy", HumanReadable.significant(joules * 1000) + " mJ above idle"))
    }
    for flip in solution.flips ?? [] {
      facts.append(ReportFact("from \(flip.runs) runs on", "\(flip.to) instead of \(flip.from)"))
    }
    return facts
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
