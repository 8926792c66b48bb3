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
    var page = ReportInput(
      title: model.name.split(separator: "/").last.map(String.init) ?? model.name,
      verdict: verdict.sentences.last ?? "", kelvinVersion: kelvinVersion, generated: date, machine: machine,
      model: model, workload: workload.description + (simulatedHeat.map { "; heat is \($0.text)" } ?? ""),
      devices: devices)
    page.findings = verdict.sentences.dropLast() + (simulation?.sentences ?? [])
    page.latencyOf = latencyOf
    page.configurations = configurations.indices.map(row)
    page.placements = configurations.map {
      var placement = ReportPlacement(units: $0.label, plan: $0.plan, solution: $0.solution, measured: $0.warm?.p50)
      // Measured energy is in the table; the plan's estimate would be a second value of the same quantity.
      placement.facts.removeAll { $0.name == "energy" }
      return placement
    }
    page.timelines = configurations.map { ReportTimeline(units: $0.label, events: $0.trace) }
    page.series = configurations.compactMap(series) + (simulation?.series ?? [])
    page.tokens = configurations.compactMap { result in result.tokens?.table(of: result.label) }
    page.notes = notes + (interruption.map { [$0] } ?? [])
    return page
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
      var series = ReportSeries(
        units: configuration.label, points: sustained.points, heatSource: configuration.thermalSource,
        fit: sustained.fit)
      series.heat = sustained.heat
      series.actions = sustained.actions.map { ($0.at, $0.what, $0.cause) }
      series.disturbances = disturbances(configuration)
      return series
    }
  }

  /// The disturbed rounds of the sustained load, in seconds since the configuration's load began.
  private func disturbances(_ configuration: ConfigurationResult) -> [ReportSeries.Disturbance] {
    let disturbed = disturbedRounds[.sustained] ?? []
    var stretches: [Int: ReportSeries.Disturbance] = [:]
    for sample in configuration.samples where sample.phase == .sustained && disturbed.contains(sample.round) {
      guard let at = sample.at else { continue }
      let known = stretches[sample.round] ?? (at, at)
      stretches[sample.round] = (min(known.from, at), max(known.to, at + sample.seconds))
    }
    return stretches.sorted { $0.key < $1.key }.map(\.value)
  }

  private func row(_ index: Int) -> ReportConfiguration {
    let result = configurations[index]
    let sustained = result.sustained
    var row = ReportConfiguration(units: result.label)
    row.isRecommended = index == verdict.winner
    row.total = result.total
    row.launch = result.launch.flatMap { $0 > 0 ? $0 : nil }
    row.load = result.load
    row.compile = result.compile
    row.first = result.first
    row.set(result.latency)
    row.throughput = result.throughput
    row.drift = sustained?.drift
    row.dropped = sustained?.dropped ?? 0
    row.thermal = result.thermal
    row.thermalSource = result.thermalSource
    row.agreement = result.agreement
    row.comparison = comparisons[index]
    row.disturbedWindows = result.disturbedWindows
    row.energy = sustained?.measuredEnergy?.text
    row.energySource = sustained?.energySource ?? ""
    row.facts = facts(result, at: index)
    return row
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
      layers: graphs.reduce(0) { $0 + FlatGraph($1, iterations: IterationEstimate()).graph.nodes.count },
      weightBytes: WeightReport(graphs).storedBytes)
  }
}
