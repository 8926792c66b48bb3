import KelvinBasics
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
package import KelvinReport
package import KelvinRuntime
import KelvinStreams

extension BenchmarkResult {
  /// Returns the page for people, which `HTMLReport.render` renders.
  package func report() -> ReportInput {
    ReportInput(
      title: model.name.split(separator: "/").last.map(String.init) ?? model.name,
      verdict: verdict.sentences.last ?? "",
      findings: Array(verdict.sentences.dropLast()) + (simulation?.sentences ?? []), kelvinVersion: kelvinVersion,
      generated: date,
      machine: machine, model: model,
      workload: workload.description + (simulatedHeat.map { "; heat is \($0.text)" } ?? ""), latencyOf: latencyOf,
      devices: devices,
      configurations: zip(configurations.indices, configurations).map { row($1, at: $0) },
      placements: configurations.map {
        var placement = ReportPlacement(units: $0.label, plan: $0.plan, solution: $0.solution, measured: $0.warm?.p50)
        // Measured energy is in the table; the plan's estimate would be a second value of the same quantity.
        placement.facts.removeAll { $0.name == "energy" }
        return placement
      },
      timelines: configurations.map { ReportTimeline(units: $0.label, events: $0.trace) },
      series: configurations.compactMap(series) + (simulation?.series ?? []),
      tokens: configurations.compactMap { result in result.tokens?.report(of: result.label) },
      notes: notes + (interruption.map { [$0] } ?? []))
  }

  /// The quantity whose latency a row shows: the sustained load's when there was one.
  private var latencyOf: String {
    switch configurations.contains(where: { $0.sustained != nil }) ? workload.kind : .oneShot {
    case .oneShot: "one warm inference after another"
    case .stream: "a frame of the stream, from its arrival to its answer"
    case .throughput: "one inference with others in flight"
    case .tokens: "a token after the first"
    }
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

  /// The disturbed rounds of the sustained load, in seconds since the configuration's load began.
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
      units: result.label, isRecommended: index == verdict.winner, total: result.total,
      launch: result.launch.flatMap { $0 > 0 ? $0 : nil }, load: result.load, compile: result.compile,
      first: result.first, p50: latency?.p50, p90: latency?.p90, p99: latency?.p99,
      p50Interval: latency?.medianInterval, samples: latency?.count ?? 0, throughput: result.throughput,
      drift: sustained?.drift, dropped: sustained?.dropped ?? 0, thermal: result.thermal,
      thermalSource: result.thermalSource, agreement: result.agreement, comparison: comparisons[index],
      disturbedWindows: result.disturbedWindows, joules: sustained?.measuredJoules,
      energySource: sustained?.energySource ?? "", facts: facts(result, at: index))
  }

  private func facts(_ result: ConfigurationResult, at index: Int) -> [ReportFact] {
    var facts: [ReportFact] = []
    if result.sustained?.isEnergyMeasured == false, let energy = energy(of: index) {
      facts.append(ReportFact("energy", energy))
    }
    if let failure = result.failure { facts.append(ReportFact("not measured to the end", failure)) }
    if let cold = result.coldTotal { facts.append(ReportFact("cold start", HumanReadable.seconds(cold))) }
    if result.sustained != nil, let warm = result.warm {
      facts.append(ReportFact("warm, one after another", "\(HumanReadable.seconds(warm.p50)) median"))
    }
    if let pipeline = result.sustained?.pipeline { facts.append(ReportFact("in flight", "\(pipeline.inFlight)")) }
    if let answers = result.sustained?.answers, answers.count > 1 {
      let counts = answers.map { "\($0.label) \($0.frames)" }
      facts.append(ReportFact("frames by plan", counts.joined(separator: ", ")))
    }
    if let skipped = result.sustained?.skipped, skipped > 0 {
      facts.append(ReportFact("skipped by the governor", "\(skipped)"))
    }
    if let claim = result.earlyStopping?.estimate {
      facts.append(ReportFact("warm p90 as MLPerf claims it", HumanReadable.seconds(claim)))
    }
    return facts
  }
}

extension ReportModel {
  /// Describes a model's graphs as reports show them. Layers are the nodes that devices run, including those in
  /// regions.
  ///
  /// - Parameter contexts: the graphs in order, at least one.
  package init(_ contexts: [ModelContext], format: String) {
    let graphs = contexts.map(\.graph)
    self.init(
      name: contexts.first?.name ?? "", format: format,
      layers: graphs.reduce(0) { $0 + FlatGraph($1, trips: IterationEstimate()).graph.nodes.count },
      weightBytes: WeightReport(graphs).storedBytes)
  }
}
