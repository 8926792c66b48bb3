import ArgumentParser
import FoundationEssentials
import Kelvin

/// The options of every command that runs or plans a model, except for the compute units.
struct ModelOptions: ParsableArguments {
  @Flag(
    help: """
      Fail where a node cannot run on the units asked for, or a device is lost, hangs or has no memory, instead of \
      letting another device help out.
      """)
  var strict = false

  @Option(
    help: ArgumentHelp(
      """
      The least exact numerics allowed: automatic, full, high or low. For low a CPU that multiplies bfloat16 does so, and \
      a card that stores float16 keeps values as that; everything else is float32 whatever is said here.
      """, valueName: "precision"), transform: precision)
  var precision: ComputePrecision = .automatic

  @Option(help: ArgumentHelp("Threads of the CPU device. (default: all cores)", valueName: "n"), transform: threadCount)
  var threads: Int?

  @Option(
    help: ArgumentHelp("Run a node on this device, whatever it costs. Repeatable.", valueName: "node=device"),
    transform: { try NamedText($0, option: "pin", form: "NODE=DEVICE") })
  var pin: [NamedText] = []

  @Option(help: ArgumentHelp("Run nothing on this device. Repeatable.", valueName: "device"))
  var exclude: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      How long a device may be at work on one submission before it counts as hung and others take its place: 10s, 2m. \
      What is expected to take long may take several times as long in any case. (default: 10s)
      """, valueName: "time"), transform: TimeSpan.seconds)
  var deviceTimeout: Double?

  @Option(
    name: .customLong("plan"),
    help: ArgumentHelp("Adopt a plan that 'kelvin plan --save' or a bench's verdict left.", valueName: "file"))
  var planFile: String?

  @Option(
    name: .customLong("profile"),
    help: ArgumentHelp(
      "Measurements to plan with, from 'kelvin profile --save', or the name of a shipped profile.", valueName: "file"))
  var profileFile: String?

  @OptionGroup var shapes: ShapeOption
  @OptionGroup var links: LinksOption

  @Option(help: ArgumentHelp("The function of the model. (default: the model's own)", valueName: "name"))
  var function: String?

  @Option(
    help: ArgumentHelp(
      """
      The graph to plan or measure, of a function that has several. (default: all of them; 'bench': the one with the \
      most work)
      """, valueName: "name"))
  var part: String?

  @Option(
    help: ArgumentHelp(
      "Seed for made-up inputs: 0 where inputs are only measured; 'predict' makes up none without it.", valueName: "n"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "Where packed weights, pipelines and measurements are kept. (default: $KELVIN_CACHE_DIR or ~/.cache/kelvin)",
      valueName: "dir"))
  var cacheDir: String?

  @Flag(help: "Keep nothing between runs.")
  var noCache = false

  @Flag(
    help: """
      Plan every size of flexible inputs, and every size that a prediction finds in its data, on its own. Otherwise \
      sizes up to the same power of two share a plan.
      """)
  var planEverySize = false

  @Flag(
    help: """
      Choose no kernel by timing, so that results repeat bit for bit, whatever --tuning says.
      """)
  var deterministic = false

  @Option(
    help: ArgumentHelp(
      """
      Which kernels are chosen by timing, among those with the same numbers: automatic, exhaustive or off. What was found \
      is kept; automatic times more on graphics cards, for about a second, exhaustive all that is left, on any device.
      """, valueName: "mode"), transform: tuning)
  var tuning: ComputeTuning = .automatic

  @OptionGroup var limits: LimitOptions

  func validate() throws {
    if noCache, cacheDir != nil { throw ValidationError("--no-cache and --cache-dir contradict each other") }
    if planFile != nil, !pin.isEmpty { throw ValidationError("--plan places every node; it cannot be used with --pin") }
  }

  /// Returns the model configuration.
  ///
  /// - Throws: `UsageError` for options that contradict each other.
  func configuration(units: ComputeUnits = .all, goal: ComputePlan.Goal = .latency) throws -> ModelConfiguration {
    var configuration = ModelConfiguration(computeUnits: units)
    for item in pin {
      if let other = configuration.pins.updateValue(item.text, forKey: item.name), other != item.text {
        throw UsageError("'\(item.name)' is pinned to both \(other) and \(item.text)")
      }
    }
    configuration.goal = goal
    configuration.isStrict = strict
    configuration.precision = precision
    configuration.threadCount = threads
    configuration.excludedDevices = exclude
    configuration.plan = planFile.map { URL(filePath: $0) }
    configuration.profile = profileFile.map { URL(filePath: $0) }
    configuration.inputShapes = try shapes.dictionary()
    configuration.allowsLinks = links.allowLinks
    configuration.functionName = function
    configuration.graphName = part
    configuration.isDeterministic = deterministic
    configuration.tuning = tuning
    configuration.plansEverySize = planEverySize
    configuration.deviceTimeout = deviceTimeout.map { .seconds($0) }
    configuration.usesCache = !noCache
    configuration.cacheDirectory = cacheDir.map { URL(filePath: $0) }
    return configuration
  }

  private static func precision(_ text: String) throws -> ComputePrecision {
    guard let precision = ComputePrecision(rawValue: text) else {
      throw ValidationError(
        "'\(text)' is not a precision; use \(ComputePrecision.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return precision
  }

  private static func tuning(_ text: String) throws -> ComputeTuning {
    guard let tuning = ComputeTuning(rawValue: text) else {
      throw ValidationError(
        "'\(text)' is not a way of tuning; use \(ComputeTuning.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return tuning
  }

  private static func threadCount(_ text: String) throws -> Int {
    guard let count = Int(text), (1...1024).contains(count) else {
      throw ValidationError("'\(text)' is not a number of threads; use 1 to 1024")
    }
    return count
  }
}
