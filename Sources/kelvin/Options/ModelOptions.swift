import ArgumentParser
import FoundationEssentials
import Glibc
import Kelvin
import KelvinGraph
import KelvinPlanning
import KelvinProfiling
import KelvinRuntime

/// What every command takes that runs or plans a model, its units apart.
struct ModelOptions: ParsableArguments {
  @Flag(help: "Fail where a node cannot run on the units asked for, instead of letting another device help out.")
  var strict = false

  @Option(help: ArgumentHelp("Numerics: automatic, full, high or low.", valueName: "precision"), transform: precision)
  var precision: Precision = .automatic

  @Option(help: ArgumentHelp("Threads of the CPU device. (default: all cores)", valueName: "n"), transform: threadCount)
  var threads: Int?

  @Option(
    help: ArgumentHelp("Run a node on this device, whatever it costs. Repeatable.", valueName: "node=device"),
    transform: { try pair($0, "pin", "NODE=DEVICE") })
  var pin: [NamedText] = []

  @Option(help: ArgumentHelp("Run nothing on this device. Repeatable.", valueName: "device"))
  var exclude: [String] = []

  @Option(
    name: .customLong("plan"),
    help: ArgumentHelp("Adopt a plan that 'kelvin plan --save' or a bench's verdict left.", valueName: "file"))
  var planFile: String?

  @Option(
    name: .customLong("profile"),
    help: ArgumentHelp("Measurements to plan with, from 'kelvin profile --save'.", valueName: "file"))
  var profileFile: String?

  @Option(
    help: ArgumentHelp("The shape of an input: NAME=1x3x224x224. Repeatable.", valueName: "name=shape"),
    transform: shape)
  var shape: [NamedShape] = []

  @Option(help: ArgumentHelp("The function of the model. (default: the model's own)", valueName: "name"))
  var function: String?

  @Option(help: ArgumentHelp("Seed for made-up inputs.", valueName: "n"))
  var seed: UInt64 = 0

  @Option(
    help: ArgumentHelp(
      "Where packed weights, pipelines and measurements are kept. (default: $KELVIN_CACHE_DIR or ~/.cache/kelvin)",
      valueName: "dir"))
  var cacheDir: String?

  @Flag(help: "Keep nothing between runs.")
  var noCache = false

  @Flag(help: "Choose no kernel by timing, so that results repeat bit for bit.")
  var deterministic = false

  struct NamedText { var name: String, text: String }
  struct NamedShape { var name: String, shape: Shape }

  func validate() throws {
    if noCache, cacheDir != nil { throw ValidationError("--no-cache and --cache-dir contradict each other") }
    if planFile != nil, !pin.isEmpty { throw ValidationError("--plan places every node; it cannot be used with --pin") }
  }

  /// - Throws: `UsageError` for options that contradict each other, `InputError`, `PlanningError` or `ProfilingError`
  ///   for files that cannot be used.
  func loadOptions(units: UnitsSelection, goal: Goal = .latency) throws -> LoadOptions {
    var options = LoadOptions()
    var pins: [String: String] = [:]
    for item in pin {
      if let other = pins.updateValue(item.text, forKey: item.name), other != item.text {
        throw UsageError("'\(item.name)' is pinned to both \(other) and \(item.text)")
      }
    }
    options.request = PlanRequest(
      units: units, goal: goal, isStrict: strict, precision: precision, threads: threads ?? Self.coreCount, pins: pins,
      exclusions: exclude)
    if let planFile { options.plan = try SavedPlan.read(planFile) }
    if let profileFile {
      options.profile = try MeasuredProfile(json: Array(try InputFile.read(profileFile)), document: profileFile)
    }
    for item in shape where options.shapes.updateValue(item.shape, forKey: item.name) != nil {
      throw UsageError("--shape names '\(item.name)' twice")
    }
    options.function = function
    options.isDeterministic = deterministic
    if noCache { options.cacheDirectory = nil } else if let cacheDir { options.cacheDirectory = cacheDir }
    return options
  }

  /// Processors that this process may run on.
  static let coreCount: Int = {
    var set = cpu_set_t()
    guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else {
      return max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
    return max(1, withUnsafeBytes(of: set) { $0.reduce(0) { $0 + $1.nonzeroBitCount } })
  }()

  private static func precision(_ text: String) throws -> Precision {
    guard let precision = Precision(rawValue: text) else {
      throw ValidationError("'\(text)' is no precision; use \(Precision.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return precision
  }

  private static func threadCount(_ text: String) throws -> Int {
    guard let count = Int(text), (1...1024).contains(count) else {
      throw ValidationError("'\(text)' is no number of threads; use 1 to 1024")
    }
    return count
  }

  /// Splits at the last '=', since names may hold one.
  private static func pair(_ text: String, _ option: String, _ form: String) throws -> NamedText {
    guard let sign = text.lastIndex(of: "="), sign > text.startIndex, text.index(after: sign) < text.endIndex else {
      throw ValidationError("--\(option) takes \(form), got '\(text)'")
    }
    return NamedText(name: String(text[..<sign]), text: String(text[text.index(after: sign)...]))
  }

  private static func shape(_ text: String) throws -> NamedShape {
    let named = try pair(text, "shape", "NAME=1x3x224x224")
    let parts = named.text.split(separator: "x", omittingEmptySubsequences: false)
    let shape = Shape(parts.compactMap { Int($0) }.filter { $0 > 0 })
    guard shape.rank == parts.count, shape.isAddressable else {
      throw ValidationError("--shape takes NAME=1x3x224x224 with positive sizes, got '\(text)'")
    }
    return NamedShape(name: named.name, shape: shape)
  }
}
