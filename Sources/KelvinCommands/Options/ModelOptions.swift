import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics

/// The options of every command that runs or plans a model, except for the compute units.
struct ModelOptions: ParsableArguments {
  @Flag(
    help:
      """
      Fail if the units cannot run a node, or if a device is lost, hangs or has no memory, instead of using another \
      device.
      """)
  var strict = false

  @Option(
    help: ArgumentHelp(
      """
      The lowest numerical precision allowed: automatic, full or low. With low, CPUs that multiply bfloat16 do \
      so, and graphics cards that store float16 store values in it. Everything else is float32.
      """, valueName: "precision"), transform: precision)
  var precision: ComputePrecision = .automatic

  @Option(
    help: ArgumentHelp(
      "The number of threads of the CPU device. (default: all cores that the process may use)", valueName: "n"),
    transform: threadCount)
  var threads: Int?

  @Option(
    help: ArgumentHelp("Run a node on this device, whatever the cost. Repeatable.", valueName: "node=device"),
    transform: { try NamedText($0, option: "pin", form: "NODE=DEVICE") })
  var pin: [NamedText] = []

  @Option(help: ArgumentHelp("Run nothing on this device. Repeatable.", valueName: "device"))
  var exclude: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      The time limit of one submission: 500ms, 10s, 2m. After it the device counts as hung, and others take over. \
      Submissions that are expected to take long may take several times as long. Compilation and first runs keep \
      their own limits. (default: 10s)
      """, valueName: "time"), transform: TimeSpan.seconds)
  var deviceTimeout: Double?

  @Option(
    name: .customLong("plan"),
    help: ArgumentHelp("Use a plan that 'kelvin plan --save' or a benchmark has saved.", valueName: "file"))
  var planFile: String?

  @Option(
    name: .customLong("profile"),
    help: ArgumentHelp(
      "Measurements to plan with: a file of 'kelvin profile --save', or the name of a shipped profile.",
      valueName: "file"))
  var profileFile: String?

  @OptionGroup var shapes: ShapeOption
  @OptionGroup var links: LinksOption

  @Option(help: ArgumentHelp("The function of the model. (default: the model's default function)", valueName: "name"))
  var function: String?

  @Option(
    help: ArgumentHelp(
      """
      The graph to plan or measure, if the function has several. (default: all; for 'bench', the one with the most \
      work)
      """, valueName: "name"))
  var part: String?

  @Option(
    help: ArgumentHelp(
      "The seed of made-up inputs. (default: 0; 'predict' makes up inputs only with a seed)", valueName: "n"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      """
      The folder for packed weights, pipelines and measurements. (default: $KELVIN_CACHE_DIR or ~/.cache/kelvin)
      """,
      valueName: "dir"))
  var cacheDir: String?

  @Flag(help: "Store nothing between runs.")
  var noCache = false

  @Flag(
    help:
      """
      Plan each size of flexible inputs, and each size that a prediction finds in its data, separately. Otherwise \
      sizes up to the same power of two share a plan.
      """)
  var planEverySize = false

  @Flag(
    help: "Select no kernel by timing, so that results repeat bit for bit, whatever --tuning is.")
  var deterministic = false

  @Option(
    help: ArgumentHelp(
      """
      How to select kernels by timing, among those with the same numerical results: automatic, exhaustive or off. \
      Selections are stored. On graphics cards, automatic times more kernels, for about a second; exhaustive times \
      all, on any device.
      """, valueName: "mode"), transform: tuning)
  var tuning: ComputeTuning = .automatic

  @Flag(
    help:
      """
      Do not check devices while they predict. By default each device computes a known result after its first and its \
      last prediction, and from time to time between them.
      """)
  var noCanary = false

  @OptionGroup var key: KeyOptions
  @OptionGroup var isolation: IsolationOption
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
      if let other = configuration.pins[exact: item.name], other != item.text {
        throw UsageError("'\(item.name)' is pinned to both \(other) and \(item.text)")
      }
      configuration.pins[exact: item.name] = item.text
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
    configuration.checksDevices = !noCanary
    configuration.usesCache = !noCache
    configuration.cacheDirectory = cacheDir.map { URL(filePath: $0) }
    return configuration
  }

  private static func precision(_ text: String) throws -> ComputePrecision {
    guard let precision = ComputePrecision(rawValue: text) else {
      throw ValidationError(
        "'\(text)' is not a precision; use \(ComputePrecision.choices.map(\.rawValue).joined(separator: ", "))")
    }
    return precision
  }

  private static func tuning(_ text: String) throws -> ComputeTuning {
    guard let tuning = ComputeTuning(rawValue: text) else {
      throw ValidationError(
        "'\(text)' is not a tuning mode; use \(ComputeTuning.allCases.map(\.rawValue).joined(separator: ", "))")
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
