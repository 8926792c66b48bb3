import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinMeasuring

struct BenchCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares ways to run a model, for one photo and for a stream, and says which to pick.",
    discussion: """
      Every --units is one configuration; they take turns and are compared in pairs, so that whatever else the machine \
      does falls on all of them. Without --units: the CPU, each hardware device, and all together. Ctrl-C ends it with \
      what has been measured and exit status 130; a second Ctrl-C stops at once. With --compare the exit status is 1 \
      where a figure is worse beyond --threshold.
      """)

  @Argument(help: .model)
  var model: String

  @Option(
    help: ArgumentHelp("one-shot, stream, throughput, tokens, or a workload's .json file.", valueName: "workload"))
  var workload: String = "one-shot"

  @Option(help: ArgumentHelp("Frames that arrive each second of a stream.", valueName: "n"))
  var fps: Double?

  @Option(
    help: ArgumentHelp(
      "Seconds for each configuration: of warm inferences, of streaming, of going as fast as possible, or of tokens.",
      valueName: "s")
  )
  var duration: Double?

  @Option(help: ArgumentHelp("The fewest warm inferences of each configuration.", valueName: "n"))
  var iterations: Int?

  @Option(
    help: ArgumentHelp(
      "Rounds of warm inferences that are compared, twice as many where they decide nothing. (default: 20)",
      valueName: "n"))
  var rounds: Int?

  @Option(help: ArgumentHelp("The fewest seconds of warm inferences of each configuration.", valueName: "s"))
  var warmSeconds: Double?

  @Option(help: ArgumentHelp("Inferences in flight for throughput. (default: found by trying)", valueName: "n"))
  var inFlight: Int?

  @Option(help: ArgumentHelp("Tokens of the prompt that tokens are made behind. (default: 32)", valueName: "n"))
  var prompt: Int?

  @Option(help: ArgumentHelp("Tokens that are made behind a prompt. (default: 128)", valueName: "n"))
  var tokens: Int?

  @Option(
    help: ArgumentHelp(
      "What an input or output of a decoder is for, where its name does not say it: \(TokenRole.spellings). Repeatable.",
      valueName: "name=role"),
    transform: { try NamedText($0, option: "token-role", form: "NAME=ROLE") })
  var tokenRole: [NamedText] = []

  @Option(
    help: ArgumentHelp("Keep a share of a device free for others: cpu=0.5. Repeatable.", valueName: "device=share"),
    transform: { try NamedText($0, option: "reserve", form: "DEVICE=SHARE") })
  var reserve: [NamedText] = []

  @Option(
    help: ArgumentHelp(
      "Have another process use a share of a device meanwhile, memory or caches: cpu=0.3, memory=4GB/s, cache=16MB. "
        + "Repeatable.", valueName: "what=amount"),
    transform: { try NamedText($0, option: "coload", form: "WHAT=AMOUNT") })
  var coload: [NamedText] = []

  @Flag(help: "Let a governor lower a stream's rate or change to a leaner plan when it gets hot.")
  var governor = false

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @Option(
    help: ArgumentHelp(
      "The class of this machine for the model of heat: phone, fanless-laptop, laptop, desktop, server, or a file.",
      valueName: "envelope"))
  var envelope: String?

  @Option(
    help: ArgumentHelp(
      "Run the stream on a machine of this class as well, in virtual time; --duration is its seconds.",
      valueName: "envelope"))
  var simulate: String?

  @Option(
    help: ArgumentHelp(
      "Run the stream really, on the heat of a machine of this class in place of this one's.", valueName: "envelope"))
  var simulateHeat: String?

  @Option(
    help: ArgumentHelp(
      "With --simulate-heat, seconds of heat in each second of the stream, 1 to 600.", valueName: "times"))
  var heatSpeed: Double?

  @Option(
    help: ArgumentHelp(
      "Instead of comparing, fit an envelope to this machine's sensors, for --envelope: rest, full load for --duration "
        + "(default: 240), rest, in all twice as long.", valueName: "file.json"))
  var calibrate: String?

  @Flag(help: "Do not compare the outputs with the reference device's.")
  var noAgreement = false

  @Option(help: ArgumentHelp("Write a page to look at.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp("Write one inference of each configuration for Perfetto or chrome://tracing.", valueName: "file")
  )
  var trace: String?

  @Option(help: ArgumentHelp("Write every sample as a table.", valueName: "file.csv"))
  var csv: String?

  @Option(
    help: ArgumentHelp(
      "Say of each figure whether it is better or worse than in what --json printed earlier.", valueName: "old.json"))
  var compare: String?

  @Option(
    help: ArgumentHelp(
      "With --compare, the share by which a figure may be worse before the exit status is 1.", valueName: "share"))
  var threshold: Double = 0.05

  @Option(
    help: ArgumentHelp(
      "Where measurements are kept as they come, for 'kelvin report'. (default: in the cache)", valueName: "file"))
  var journal: String?

  @Option(
    help: ArgumentHelp(
      "Where the plan that the verdict recommends is written, for --plan. (default: in the cache)", valueName: "file"))
  var savePlan: String?

  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  /// The duration of the real stream before a simulation, long enough to measure a frame.
  private static let secondsBeforeSimulating = 5.0

  func validate() throws {
    guard Set(units.unitsList).count == units.unitsList.count else {
      throw ValidationError("the same --units is given twice; comparing it with itself says nothing")
    }
    guard simulateHeat != nil || heatSpeed == nil else {
      throw ValidationError("--heat-speed is for --simulate-heat")
    }
    guard heatSpeed.map({ (1...600).contains($0) }) ?? true else {
      throw ValidationError("--heat-speed \(heatSpeed ?? 0): expected 1 to 600")
    }
    guard simulate == nil || simulateHeat == nil else {
      throw ValidationError("--simulate runs in virtual time and --simulate-heat really; take one of them")
    }
    guard threshold >= 0, threshold.isFinite else {
      throw ValidationError("--threshold \(threshold): expected a share, zero or more, such as 0.05")
    }
  }

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
    if let csv { try LocalFile.write(result.csv().utf8, to: csv) }
    if output.json {
      printJSON(try result.json())
    } else {
      Console.print(lines: result.lines)
      if let report { Console.note("the page is '\(report)'") }
      if let csv { Console.note("the samples are in '\(csv)'") }
    }
    if let planFile { Console.note("the plan of \(result.best) is in '\(planFile)'; give it back with --plan") }
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
      guard let share = Double(item.text) else {
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
