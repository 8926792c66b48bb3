import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkRunner {
  /// Returns the first entry of a journal.
  static func beginning(
    _ subject: BenchmarkSubject, _ workload: Workload, machine: MachineDescription, _ kelvinVersion: String,
    _ options: BenchmarkOptions
  ) -> JournalEntry.Benchmark {
    var notes = [
      subject.starter != nil
        ? "each start was a process of its own; for cold ones Kelvin's and the drivers' caches were empty, and the"
          + " model's files were dropped from the page cache"
        : "starts were made within this process, with the devices open; cold ones found no compiled weights"
          + (subject.reload == nil ? ", and reading the model was timed once" : "")
    ]
    if let heat = options.simulatedHeat {
      let setup = SimulatedHeat.Setup(envelope: heat.envelope.name, speed: heat.speed)
      notes.append(
        "heat is \(setup.text): frames, rates and times are real, but heat and the governor's actions are not this"
          + " machine's; the seconds in their causes are the envelope's, and no throttling happens at the limit")
    }
    if let frames = subject.frames {
      notes.append(
        "the stream has the frames of '\(frames.source)', which starts again at its end; the time of a frame includes"
          + " reading it: waiting for its decoder, and conversion")
    }
    if subject.hasMadeUpInputs { notes.append("inputs were made up; give real ones with --input") }
    return .init(
      kelvinVersion: kelvinVersion, date: options.date, machine: machine,
      model: ReportModel([subject.context], format: subject.format),
      workload: workload,
      simulatedHeat: options.simulatedHeat.map { .init(envelope: $0.envelope.name, speed: $0.speed) },
      devices: subject.context.inventory.devices.map { ReportDevice($0.info) }, notes: notes)
  }

  /// Returns the journal's description of a configuration before its measurement.
  func description(of candidate: BenchmarkCandidate, after others: [BenchmarkCandidate]) throws
    -> JournalEntry.Configuration
  {
    let (explanation, request) = (candidate.explanation, candidate.configuration.request)
    let solution = explanation.solution
    let byDevice = subject.context.nodesByDevice(solution.placement)
    var notes = try subject.context.remarks(on: explanation, request)
    if let trial = candidate.trial { notes.append(trial.record.reason) }
    if case .devices(let asked) = request.units, !Set(candidate.devices.map(\.id)).isSubset(of: asked) {
      let help = byDevice.filter { !asked.contains($0.key) }.values.reduce(0, +)
      notes.append("\(help) nodes run elsewhere because it cannot run them")
    }
    if candidate.threads < request.threads {
      notes.append("\(candidate.threads) of \(request.threads) CPU threads")
    }
    let candidates = explanation.nodes.flatMap { $0.candidates.filter { $0.seconds != nil }.map(\.device) }
    return .init(
      label: candidate.configuration.label, solution: solution,
      plan: try subject.context.plan(explanation, request), tried: candidate.trial?.record,
      devices: candidate.devices.map(\.id),
      considered: Set(candidates).union(candidate.devices.map(\.id) + [subject.context.inventory.host.info.id])
        .sorted(),
      threads: candidate.threads,
      samePlanAs: try others.first { try candidate.runsAs($0) }?.index ?? candidate.index,
      notes: notes)
  }
}

extension BenchmarkCandidate {
  /// Whether both run the same placement with the same threads and precision.
  fileprivate func runsAs(_ other: BenchmarkCandidate) throws -> Bool {
    let (placement, request) = (explanation.solution.placement, configuration.request)
    let asked = other.configuration.request
    guard other.explanation.solution.placement == placement, asked.threads == request.threads else { return false }
    return try context.node(tellingApart: asked.precision, request.precision, placement: placement) == nil
  }
}
