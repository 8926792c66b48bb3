import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinMeasuring

struct BenchCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compare configurations of a model for single photos and streams, and recommend one.",
    discussion: """
      Each --units is one configuration. Configurations take turns and are compared in pairs, so that other load on \
      the machine affects all of them equally. Without --units, bench compares the CPU, each hardware device, and \
      all devices together.

      Ctrl-C ends the command with the measurements so far and exit status 130; a second Ctrl-C stops at once. With \
      --compare, the exit status is 1 if a figure is worse by more than --threshold.

      One photo on the CPU or on a card:
        kelvin bench model.onnx --units cpu --units vulkan:0
      A camera, with a governor:
        kelvin bench model.onnx --workload stream --fps 30 --governor
      The frames of a video, decoding included:
        kelvin bench model.onnx --workload stream --source clip.mp4
      The same for an hour on a board without a fan:
        kelvin bench model.onnx --workload stream --fps 30 --duration 3600 \\
          --governor --simulate fanless-board
      The most inferences per second:
        kelvin bench model.onnx --workload throughput --units cpu,vulkan:0
      An envelope of this board, for --envelope and --simulate:
        kelvin bench model.onnx --workload stream --calibrate board.json
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @OptionGroup(title: "Workload options") var measured: BenchWorkloadOptions
  @OptionGroup(title: "Heat options") var heat: BenchHeatOptions
  @OptionGroup(title: "Result options") var results: BenchResultOptions
  @OptionGroup(title: "Image options") var imageOptions: ImageOptions
  @OptionGroup(title: "Image options") var pixels: NormalizationOption
  @OptionGroup(title: "Device options") var units: UnitsListOption
  @OptionGroup(title: "Model options") var options: ModelOptions
  @OptionGroup var output: OutputOptions

  /// The duration of the real stream before a simulation, long enough to measure a frame.
  private static let timeBeforeSimulating = Duration.seconds(5)

  func validate() throws {
    guard Set(units.unitsList).count == units.unitsList.count else {
      throw ValidationError("--units has the same value twice; give different values")
    }
    guard heat.simulate == nil || heat.simulated.heat == nil else {
      throw ValidationError("--simulate runs in virtual time, --simulate-heat in real time; use one of them")
    }
    guard results.threshold >= 0, results.threshold.isFinite else {
      throw ValidationError("--threshold \(results.threshold): expected a share, zero or more, such as 0.05")
    }
  }

  /// The seconds of a phase for each configuration, unless the command line says how much to measure.
  private static let phaseLimit = Duration.seconds(15)

  func run() throws {
    if let calibrate = heat.calibrate { return try fitEnvelope(to: calibrate) }
    var workload = try adjustedWorkload()
    let coload = workload.otherLoad["cpu"] ?? 0
    if heat.simulate != nil {
      guard workload.kind == .stream else {
        throw UsageError("--simulate is for a stream, not for \(workload.name)")
      }
      workload.duration = min(workload.duration, Self.timeBeforeSimulating)
      workload.otherLoad["cpu"] = nil
      workload.coldStarts = min(workload.coldStarts, 1)
      workload.starts = min(workload.starts, 1)
    }
    guard heat.simulated.heat == nil || workload.kind == .stream else {
      throw UsageError("--simulate-heat is for a stream, not for \(workload.name)")
    }
    guard measured.source == nil || workload.kind == .stream else {
      throw UsageError("--source is for a stream, not for \(workload.name)")
    }
    let inputs = try MeasurementInputs(
      model, measured.inputs, imageOptions, options, source: measured.source, normalization: pixels.normalization)
    if measured.fps == nil, let rate = inputs.frames?.framesPerSecond { workload.framesPerSecond = rate }
    // An unreadable file is reported before anything is measured.
    let earlier = try results.compare.map {
      (name: $0, document: try Benchmark.Baseline(contentsOf: URL(filePath: $0)))
    }
    var benchmark = Benchmark(workload: workload, configurations: try configurations())
    benchmark.checksAgreement = !results.noAgreement
    let isCounted =
      measured.iterations != nil || measured.rounds != nil || measured.warmSeconds != nil || measured.duration != nil
    if !isCounted, !measured.workload.hasSuffix(".json") { benchmark.phaseLimit = Self.phaseLimit }
    benchmark.thermalEnvelope = heat.envelope
    benchmark.simulatedHeat = heat.simulated.heat
    benchmark.journal = results.journal
    benchmark.seed = options.seed ?? 0
    benchmark.tokenRoles = try roles(workload)
    var result = try measuring("bench") { [benchmark] listener in
      try await benchmark.run(
        inputs.url, input: inputs.values, frames: inputs.frames, starts: SelfLauncher(), listener: listener)
    }
    if let simulate = heat.simulate, result.interruption == nil {
      try result.simulate(on: simulate, seconds: measured.duration, otherLoad: coload, seed: options.seed ?? 0)
    }
    if let earlier { try result.compare(with: earlier.document, named: earlier.name, threshold: results.threshold) }
    let planFile = try keepPlan(of: result)
    if let report = results.report { try LocalFile.write(result.htmlReport().utf8, to: report) }
    if let trace = results.trace { try LocalFile.write(result.trace(), to: trace) }
    if let csv = results.csv {
      try LocalFile.write(result.csv(escapesFormulas: results.spreadsheet.csvSafe).utf8, to: csv)
    }
    if output.json {
      printJSON(try result.json())
    } else {
      Console.print(lines: result.lines)
      if let report = results.report { Console.note("the report is in '\(report)'") }
      if let csv = results.csv { Console.note("the samples are in '\(csv)'") }
    }
    if let planFile { Console.note("the plan of \(result.best) is in '\(planFile)'; use it with --plan") }
    if result.interruption != nil { throw ReportedFailure(status: .interrupted) }
    if result.hasRegressed { throw ReportedFailure(status: .regression) }
  }

  /// Writes the recommended plan to the file of `--save-plan`, or into the cache.
  ///
  /// - Returns: The path of the file; nil where no plan is kept.
  private func keepPlan(of result: Benchmark.Result) throws -> String? {
    guard let savePlan = results.savePlan else { return try result.keepPlan() }
    try result.savePlan(to: URL(filePath: savePlan))
    return savePlan
  }

  private func adjustedWorkload() throws -> Benchmark.Workload {
    var chosen = try Benchmark.Workload(named: measured.workload)
    if let fps = measured.fps {
      guard chosen.kind == .stream else { throw UsageError("--fps is for a stream, not for \(chosen.name)") }
      chosen.framesPerSecond = fps
    }
    if let duration = measured.duration {
      if chosen.kind == .oneShot { chosen.warmTime = .seconds(duration) } else { chosen.duration = .seconds(duration) }
    }
    if let iterations = measured.iterations { chosen.iterations = iterations }
    if let rounds = measured.rounds {
      chosen.rounds = rounds
      chosen.iterations = max(chosen.iterations, rounds)
    }
    if let warmSeconds = measured.warmSeconds { chosen.warmTime = .seconds(warmSeconds) }
    if let inFlight = measured.inFlight {
      guard chosen.kind == .throughput else {
        throw UsageError("--in-flight is for throughput, not for \(chosen.name)")
      }
      chosen.inFlight = inFlight
    }
    if measured.prompt != nil || measured.tokens != nil {
      guard chosen.kind == .tokens else {
        throw UsageError("--prompt and --tokens are for tokens, not for \(chosen.name)")
      }
      chosen.promptCount = measured.prompt ?? chosen.promptCount
      chosen.tokenCount = measured.tokens ?? chosen.tokenCount
    }
    if chosen.kind == .tokens,
      measured.iterations != nil || measured.rounds != nil || measured.warmSeconds != nil
    {
      throw UsageError("--iterations, --rounds and --warm-seconds are for warm inferences; tokens take --duration")
    }
    if heat.governor {
      guard chosen.kind == .stream else { throw UsageError("--governor is for a stream, not for \(chosen.name)") }
      chosen.isGoverned = true
    }
    chosen.reservedShares.merge(try Self.shares(measured.reserve, "--reserve")) { _, given in given }
    for item in measured.coload {
      if let expected = chosen.setOtherLoad(item.name, to: item.text) {
        throw UsageError("--coload \(item.name)=\(item.text): expected \(expected)")
      }
    }
    // An invalid number from the command line is a usage error; one from a workload file is a data error.
    let isAsked =
      measured.fps != nil || measured.duration != nil || measured.iterations != nil || measured.rounds != nil
      || measured.warmSeconds != nil || measured.inFlight != nil || measured.prompt != nil || measured.tokens != nil
      || !measured.reserve.isEmpty || !measured.coload.isEmpty
    try chosen.check(isAsked: isAsked)
    return chosen
  }

  /// Returns the roles of inputs and outputs from `--token-role`.
  private func roles(_ workload: Benchmark.Workload) throws -> [String: TokenRole] {
    guard measured.tokenRole.isEmpty || workload.kind == .tokens else {
      throw UsageError("--token-role is for tokens, not for \(workload.name)")
    }
    var roles: [String: TokenRole] = [:]
    for item in measured.tokenRole {
      guard let role = TokenRole(item.text) else {
        throw UsageError("--token-role \(item.name)=\(item.text): expected \(TokenRole.spellings)")
      }
      roles[item.name] = role
    }
    return roles
  }

  private static func shares(_ given: [NamedText], _ option: String) throws -> [String: Double] {
    var shares: [String: Double] = [:]
    for item in given {
      guard let share = NumberText.number(item.text) else {
        throw UsageError("\(option) \(item.name)=\(item.text): expected a share from 0 to 0.95")
      }
      shares[item.name] = share
    }
    return shares
  }

  /// Returns the configurations to compare. Without `--units` and `--plan` these are the CPU, each hardware device, and
  /// all devices together.
  func configurations() throws -> [Benchmark.Configuration] {
    var units = units.unitsList
    if units.isEmpty, options.planFile == nil { units = ComputeUnits.comparable }
    var base = try options.configuration()
    base.plan = nil
    var configurations = units.map { units in
      var configuration = base
      configuration.computeUnits = units
      return Benchmark.Configuration(label: units.description, configuration)
    }
    if let file = options.planFile {
      base.plan = URL(filePath: file)
      configurations.append(.init(label: "plan \(file)", base))
    }
    return configurations
  }
}
