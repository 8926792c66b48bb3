package import FoundationEssentials
import KelvinDevices
import KelvinGraph
package import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
package import KelvinThermal

/// Makes the measurements behind a recommendation: a preliminary measurement of every configuration, then a benchmark
/// for each question with the configurations that fit the budget.
package final class AdviceRunner {
  private let subject: BenchmarkSubject
  private let request: AdviceRequest
  private let candidates: [BenchmarkConfiguration]
  private let options: BenchmarkOptions
  private let kelvinVersion: String
  private let machine: ThermalEnvelope
  private let clock: any MeasurementClock
  private let files: SystemFiles
  private let journal: (Workload) throws -> (Data) -> Void
  private var firstError: (any Error)?

  /// - Parameters:
  ///   - candidates: configurations with distinct labels; several may be equal.
  ///   - machine: the envelope of this machine, by which energies are estimated.
  ///   - journal: opens the journal of a workload and returns the function that appends its lines.
  /// - Throws: `BenchmarkError` when there is nothing to measure.
  package init(
    _ subject: BenchmarkSubject, _ request: AdviceRequest, _ candidates: [BenchmarkConfiguration],
    options: BenchmarkOptions = .init(), kelvinVersion: String, machine: ThermalEnvelope,
    clock: any MeasurementClock = SystemClock(), files: SystemFiles = SystemFiles(),
    journal: @escaping (Workload) throws -> (Data) -> Void = { _ in { _ in } }
  ) throws(BenchmarkError) {
    try request.validate()
    guard !candidates.isEmpty else { throw .invalidRequest("no configuration to choose from; name one with --units") }
    self.subject = subject
    self.request = request
    self.candidates = candidates
    self.options = options
    self.kelvinVersion = kelvinVersion
    self.machine = machine
    self.clock = clock
    self.files = files
    self.journal = journal
  }

  /// - Throws: the errors of `BenchmarkRunner.run`, when nothing could be measured.
  package func run(_ observe: @escaping MeasurementObserver = { _ in }) throws -> Advice {
    let end = clock.now() + request.budget
    var evidence = AdviceEvidence(machine: machine)
    let probes = try probe(into: &evidence, observe)
    guard !probes.isEmpty else { throw firstError ?? RuntimeError.cancelled }
    var parts = AdvicePart.allCases.filter { $0.serves(request.questions) }
    var progress = Self.probeShare
    while !parts.isEmpty, evidence.interruption == nil {
      let part = parts.removeFirst()
      let share = part.weight / (part.weight + parts.reduce(0) { $0 + $1.weight })
      let seconds = max(0, (end - clock.now()) * share)
      // One plan is measured once, and its row is the one to pick.
      let measured = part == .throughput ? probes : probes.filter { $0.twin == nil }
      let schedule = AdviceSchedule(
        part, measured.map(\.estimate), framesPerSecond: request.framesPerSecond, seconds: seconds,
        isFirst: evidence.results.isEmpty)
      let later = expectedSeconds(of: parts, probes, within: max(0, end - clock.now() - seconds))
      let (from, to) = (progress, progress + (1 - progress) * share)
      do {
        let result = try measure(schedule, measured, until: clock.now() + seconds, isFirst: evidence.results.isEmpty) {
          progress in
          var progress = progress
          progress.fraction = from + (to - from) * progress.fraction
          progress.phase = "\(part.rawValue): \(progress.phase)"
          progress.secondsLeft = progress.secondsLeft.map { $0 + later }
          observe(progress)
        }
        evidence.add(result, of: part, leftOut: schedule.leftOut.map { measured[$0] })
      } catch  where !evidence.results.isEmpty {
        // Results of earlier parts are kept.
        if options.cancellation?.isCancelled == true {
          evidence.interruption = "interrupted before the \(part.rawValue) was measured"
        } else {
          evidence.failures.append("the \(part.rawValue) could not be measured: \(error)")
        }
      }
      progress = to
    }
    observe(.init(phase: "done", fraction: 1))
    return try Advice(request, evidence)
  }

  /// Whether two probes are at equal configurations. When throughput is asked for, their plans for it, which are made
  /// separately, have to agree too.
  private func areEquivalent(_ probe: CandidateProbe, _ other: CandidateProbe) throws -> Bool {
    guard try probe.isEquivalent(as: other, subject.context) else { return false }
    guard request.questions.contains(.throughput) else { return true }
    let placements = try [probe, other].map { probe in
      var asked = probe.configuration.request
      asked.goal = .throughput
      return try subject.context.explain(asked).solution.placement
    }
    return placements[0] == placements[1]
  }

  /// Returns the expected seconds of the parts that follow.
  private func expectedSeconds(of parts: [AdvicePart], _ probes: [CandidateProbe], within seconds: Double) -> Double {
    let weights = parts.reduce(0) { $0 + $1.weight }
    return parts.reduce(0) { sum, part in
      sum
        + AdviceSchedule(
          part, probes.map(\.estimate), framesPerSecond: request.framesPerSecond,
          seconds: seconds * part.weight / max(weights, 1)
        ).expectedSeconds
    }
  }

  /// The share of the budget for the preliminary measurement.
  private static let probeShare = 0.12

  /// Plans every candidate, tries plans that mix devices, merges equal candidates, and runs each of the others a few
  /// times. Candidates that fail or do not fit the budget are recorded as omissions with the reason.
  private func probe(into evidence: inout AdviceEvidence, _ observe: MeasurementObserver) throws -> [CandidateProbe] {
    let end = clock.now() + Self.probeShare * request.budget
    var probes: [CandidateProbe] = []
    // Every planned candidate, with the index of the probe that represents it.
    var planned: [(candidate: BenchmarkConfiguration, probe: Int)] = []
    for (index, candidate) in inOrderOfInterest.enumerated() {
      try options.cancellation?.check()
      observe(
        .init(
          phase: "a first measurement", fraction: Self.probeShare * Double(index) / Double(candidates.count),
          detail: candidate.label))
      guard probes.isEmpty || clock.now() < end else {
        evidence.leave(out: candidate.label, "no time was left within the budget for a first measurement of it")
        continue
      }
      do {
        if let known = try planned.first(where: { try subject.context.settles(candidate, by: $0.candidate) }) {
          probes[known.probe].equivalentLabels.append(candidate.label)
          continue
        }
        var probe = try CandidateProbe(
          candidate, subject.context, inputs: options.triesPlans ? subject.inputs[0] : nil,
          budget: max(0, end - clock.now()), clock: clock)
        evidence.trials += [probe.trial].compactMap { $0 }
        if let known = try probes.firstIndex(where: { try areEquivalent(probe, $0) }) {
          planned.append((candidate, known))
          probes[known].equivalentLabels.append(candidate.label)
          continue
        }
        probe.twin = try probes.first { try $0.twin == nil && probe.isEquivalent(as: $0, subject.context) }?.label
        try probe.run(
          subject.context, subject.inputs[0], isDeterministic: options.isDeterministic, clock: clock,
          options.cancellation)
        planned.append((candidate, probes.count))
        probes.append(probe)
      } catch {
        if options.cancellation?.isCancelled == true { throw RuntimeError.cancelled }
        firstError = firstError ?? error
        evidence.leave(out: candidate.label, "\(error)")
      }
    }
    let places = Dictionary(candidates.enumerated().map { ($1.label, $0) }) { first, _ in first }
    probes.sort { (places[$0.label] ?? 0) < (places[$1.label] ?? 0) }
    evidence.candidates = try probes.map { try $0.candidate(subject.context) }
    return probes
  }

  /// Every choice of units with all its threads first, then with fewer, so that the budget leaves out variants first.
  private var inOrderOfInterest: [BenchmarkConfiguration] {
    func isVariant(_ candidate: BenchmarkConfiguration) -> Bool {
      candidates.contains { other in
        other.request.units == candidate.request.units && other.request.threads > candidate.request.threads
      }
    }
    return candidates.filter { !isVariant($0) } + candidates.filter(isVariant)
  }

  private func measure(
    _ schedule: AdviceSchedule, _ probes: [CandidateProbe], until end: Double, isFirst: Bool,
    _ observe: @escaping MeasurementObserver
  ) throws -> BenchmarkResult {
    var options = options
    options.keep = try journal(schedule.workload)
    options.endsBy = end
    if !isFirst { options.remark = { _ in } }
    // Plans have been tried already, and outputs are compared in the first part only.
    options.triesPlans = false
    options.checksAgreement = options.checksAgreement && isFirst
    options.referenceBudget = min(options.referenceBudget, Self.referenceShare * request.budget)
    let configurations = schedule.rows.map { row in
      var configuration = probes[row].configuration
      // The throughput workload is planned separately.
      if schedule.workload.kind == .throughput,
        candidates.first(where: { $0.label == configuration.label })?.plan == nil
      {
        configuration.plan = nil
      }
      return configuration
    }
    return try BenchmarkRunner(
      subject, schedule.workload, configurations, options: options, kelvinVersion: kelvinVersion, envelope: machine,
      clock: clock, files: files
    ).run(observe)
  }

  /// The share of the budget for the reference device.
  private static let referenceShare = 0.1
}
