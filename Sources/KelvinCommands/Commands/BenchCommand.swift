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
      """)

  @Argument(help: .model)
  var model: String

  @Option(
    help: ArgumentHelp("The workload: one-shot, stream, throughput, tokens, or a .json file.", valueName: "workload"))
  var workload: String = "one-shot"

  @Option(help: ArgumentHelp("The number of frames per second of a stream.", valueName: "n"), transform: decimalNumber)
  var fps: Double?

  @Option(
    help: ArgumentHelp(
      "The time that each configuration runs: warm inferences, a stream, throughput or tokens.",
      valueName: "time"), transform: TimeSpan.seconds
  )
  var duration: Double?

  @Option(help: ArgumentHelp("The minimum number of warm inferences for each configuration.", valueName: "n"))
  var iterations: Int?

  @Option(
    help: ArgumentHelp(
      "The number of rounds of warm inferences to compare; twice as many if they do not decide. (default: 20)",
      valueName: "n"))
  var rounds: Int?

  @Option(
    help: ArgumentHelp("The minimum time of warm inferences for each configuration.", valueName: "time"),
    transform: TimeSpan.secondsOrZero)
  var warmSeconds: Double?

  @Option(
    help: ArgumentHelp("The number of inferences in flight for throughput. (default: found by trial)", valueName: "n"))
  var inFlight: Int?

  @Option(help: ArgumentHelp("The number of tokens in the prompt. (default: 32)", valueName: "n"))
  var prompt: Int?

  @Option(help: ArgumentHelp("The number of tokens to generate after the prompt. (default: 128)", valueName: "n"))
  var tokens: Int?

  @Option(
    help: ArgumentHelp(
      "The role of a decoder's input or output whose name does not show it: \(TokenRole.spellings). Repeatable.",
      valueName: "name=role"),
    transform: { try NamedText($0, option: "token-role", form: "NAME=ROLE") })
  var tokenRole: [NamedText] = []

  @Option(
    help: ArgumentHelp(
      "Reserve a share of a device for other processes: cpu=0.5. Repeatable.", valueName: "device=share"),
    transform: { try NamedText($0, option: "reserve", form: "DEVICE=SHARE") })
  var reserve: [NamedText] = []

  @Option(
    help: ArgumentHelp(
      """
      Let another process use a share of a device, memory bandwidth or caches during the run: cpu=0.3, memory=4GB/s, \
      cache=16MB. Repeatable.
      """, valueName: "what=amount"),
    transform: { try NamedText($0, option: "coload", form: "WHAT=AMOUNT") })
  var coload: [NamedText] = []

  @Flag(help: "Let a governor lower a stream's rate or use a cheaper plan when the machine gets hot.")
  var governor = false

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @Option(
    help: ArgumentHelp(
      """
      The class of this machine for the thermal model: phone, fanless-laptop, laptop, desktop, server, or a file.
      """,
      valueName: "envelope"))
  var envelope: String?

  @Option(
    help: ArgumentHelp(
      "Also run the stream on a machine of this class in virtual time, for --duration seconds.",
      valueName: "envelope"))
  var simulate: String?

  @Option(
    help: ArgumentHelp(
      "Run the stream in real time, with the simulated heat of a machine of this class.", valueName: "envelope"))
  var simulateHeat: String?

  @Option(
    help: ArgumentHelp(
      "With --simulate-heat, the seconds of heat per second of the stream, 1 to 600.", valueName: "times"),
    transform: decimalNumber)
  var heatSpeed: Double?

  @Option(
    help: ArgumentHelp(
      """
      Fit an envelope to this machine's sensors, for --envelope, instead of comparing: idle, full load for \
      --duration (default: 240), idle, twice as long in total.
      """, valueName: "file.json"))
  var calibrate: String?

  @Flag(help: "Do not compare the outputs with the reference device's.")
  var noAgreement = false

  @Option(help: ArgumentHelp("Write an HTML report.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Write a trace of one inference of each configuration, for Perfetto or chrome://tracing.", valueName: "file")
  )
  var trace: String?

  @Option(help: ArgumentHelp("Write a table of all samples.", valueName: "file.csv"))
  var csv: String?

  @OptionGroup var spreadsheet: SpreadsheetOption

  @Option(
    help: ArgumentHelp(
      "Compare each figure with an earlier output of --json.", valueName: "old.json"))
  var compare: String?

  @Option(
    help: ArgumentHelp(
      "With --compare, the share by which a figure may be worse before the exit status is 1. (default: 0.05)",
      valueName: "share"),
    transform: decimalNumber)
  var threshold: Double = 0.05

  @Option(
    help: ArgumentHelp(
      "The file that records measurements during the run, for 'kelvin report'. (default: in the cache)",
      valueName: "file"))
  var journal: String?

  @Option(
    help: ArgumentHelp(
      "The file for the recommended plan, for --plan. (default: in the cache)", valueName: "file"))
  var savePlan: String?

  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  /// The duration of the real stream before a simulation, long enough to measure a frame.
  private static let secondsBeforeSimulating = 5.0

  func validate() throws {
    guard Set(units.unitsList).count == units.unitsList.count else {
      throw ValidationError("--units has the same value twice; give different values")
    }
    guard simulateHeat != nil || heatSpeed == nil else {
      throw ValidationError("--heat-speed is for --simulate-heat")
    }
    guard heatSpeed.map({ (1...600).contains($0) }) ?? true else {
      throw ValidationError("--heat-speed \(heatSpeed ?? 0): expected 1 to 600")
    }
    guard simulate == nil || simulateHeat == nil else {
      throw ValidationError("--simulate runs in virtual time, --simulate-heat in real time; use one of them")
    }
    guard threshold >= 0, threshold.isFinite else {
      throw ValidationError("--threshold \(threshold): expected a share, zero or more, such as 0.05")
    }
  }

  /// The seconds of a phase for each configuration, unless the command line says how much to measure.
  private static let phaseLimit = 15.0

  func run() throws {
    if let calibrate { return try fitEnvelope(to: calibrate) }
    var workload = try adjustedWorkload()
    let coload = workload.otherLoad["cpu"] ?? 0
    if simulate != nil {
      guard workload.kind == .stream else {
        throw UsageError("--simulate is for a stream, not for \(workload.name)")
      }
      workload.duration = min(workload.duration, Self.secondsBeforeSimulating)
      workload.otherLoad["cpu"] = nil
      workload.coldStarts = min(workload.coldStarts, 1)
      workload.starts = min(workload.starts, 1)
    }
    guard simulateHeat == nil || workload.kind == .stream else {
      throw UsageError("--simulate-heat is for a stream, not for \(workload.name)")
    }
    let inputs = try MeasurementInputs(model, inputs, imageOptions, options)
    // An unreadable file is reported before anything is measured.
    let earlier = try compare.map { (name: $0, document: try Benchmark.Baseline(contentsOf: URL(filePath: $0))) }
    var benchmark = Benchmark(workload: workload, configurations: try configurations())
    benchmark.checksAgreement = !noAgreement
    let isCounted = iterations != nil || rounds != nil || warmSeconds != nil || duration != nil
    if !isCounted, !self.workload.hasSuffix(".json") { benchmark.phaseLimit = Self.phaseLimit }
    benchmark.thermalEnvelope = envelope
    benchmark.simulatedHeat = simulateHeat.map { .init(envelope: $0, speed: heatSpeed ?? 1) }
    benchmark.journal = journal
    benchmark.seed = options.seed ?? 0
    benchmark.tokenRoles = try roles(workload)
    var result = try measuring("bench") { [benchmark] listener in
      try await benchmark.run(inputs.url, input: inputs.values, starts: SelfLauncher(), listener: listener)
    }
    if let simulate, result.interruption == nil {
      try result.simulate(on: simulate, seconds: duration, otherLoad: coload, seed: options.seed ?? 0)
    }
    if let earlier { try result.compare(with: earlier.document, named: earlier.name, threshold: threshold) }
    let planFile = try keepPlan(of: result)
    if let report { try LocalFile.write(result.htmlReport().utf8, to: report) }
    if let trace { try LocalFile.write(result.trace(), to: trace) }
    if let csv { try LocalFile.write(result.csv(escapesFormulas: spreadsheet.csvSafe).utf8, to: csv) }
    if output.json {
      printJSON(try result.json())
    } else {
      Console.print(lines: result.lines)
      if let report { Console.note("the report is in '\(report)'") }
      if let csv { Console.note("the samples are in '\(csv)'") }
    }
    if let planFile { Console.note("the plan of \(result.best) is in '\(planFile)'; use it with --plan") }
    if result.interruption != nil { throw ReportedFailure(status: .interrupted) }
    if result.hasRegressed { throw ReportedFailure(status: .regression) }
  }

  /// Writes the recommended plan to the file of `--save-plan`, or into the cache.
  ///
  /// - Returns: The path of the file; nil where no plan is kept.
  private func keepPlan(of result: Benchmark.Result) throws -> String? {
    guard let savePlan else { return try result.keepPlan() }
    try result.savePlan(to: URL(filePath: savePlan))
    return savePlan
  }

  private func adjustedWorkload() throws -> Workload {
    var chosen = try Workload(named: workload)
    if let fps {
      guard chosen.kind == .stream else { throw UsageError("--fps is for a stream, not for \(chosen.name)") }
      chosen.framesPerSecond = fps
    }
    if let duration {
      if chosen.kind == .oneShot { chosen.warmSeconds = duration } else { chosen.duration = duration }
    }
    if let iterations { chosen.iterations = iterations }
    if let rounds {
      chosen.rounds = rounds
      chosen.iterations = max(chosen.iterations, rounds)
    }
    if let warmSeconds { chosen.warmSeconds = warmSeconds }
    if let inFlight {
      guard chosen.kind == .throughput else {
        throw UsageError("--in-flight is for throughput, not for \(chosen.name)")
      }
      chosen.inFlight = inFlight
    }
    if prompt != nil || tokens != nil {
      guard chosen.kind == .tokens else {
        throw UsageError("--prompt and --tokens are for tokens, not for \(chosen.name)")
      }
      chosen.promptCount = prompt ?? chosen.promptCount
      chosen.tokenCount = tokens ?? chosen.tokenCount
    }
    if chosen.kind == .tokens, iterations != nil || rounds != nil || warmSeconds != nil {
      throw UsageError("--iterations, --rounds and --warm-seconds are for warm inferences; tokens take --duration")
    }
    if governor {
      guard chosen.kind == .stream else { throw UsageError("--governor is for a stream, not for \(chosen.name)") }
      chosen.isGoverned = true
    }
    chosen.reservedShares.merge(try Self.shares(reserve, "--reserve")) { _, given in given }
    for item in coload {
      if let expected = chosen.setOtherLoad(item.name, to: item.text) {
        throw UsageError("--coload \(item.name)=\(item.text): expected \(expected)")
      }
    }
    // An invalid number from the command line is a usage error; one from a workload file is a data error.
    let isAsked =
      fps != nil || duration != nil || iterations != nil || rounds != nil || warmSeconds != nil || inFlight != nil
      || prompt != nil || tokens != nil
      || !reserve.isEmpty || !coload.isEmpty
    try chosen.check(isAsked: isAsked)
    return chosen
  }

  /// Returns the roles of inputs and outputs from `--token-role`.
  private func roles(_ workload: Workload) throws -> [String: TokenRole] {
    guard tokenRole.isEmpty || workload.kind == .tokens else {
      throw UsageError("--token-role is for tokens, not for \(workload.name)")
    }
    var roles: [String: TokenRole] = [:]
    for item in tokenRole {
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
