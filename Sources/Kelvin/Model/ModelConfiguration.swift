public import FoundationEssentials
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinThermal

/// How a model is to be loaded and run.
public struct ModelConfiguration: Hashable, Sendable {
  /// The processing units the model may use.
  public var computeUnits: ComputeUnits
  /// A name for people; the file's name where nil.
  public var modelDisplayName: String?
  /// The function to call; the model's default where nil.
  public var functionName: String?
  /// What is known of how the model will be used.
  public var optimizationHints = OptimizationHints()
  /// How exactly the model must be computed at least.
  public var precision: ComputePrecision = .automatic
  /// Threads the CPU may use; every core where nil.
  public var threadCount: Int?
  /// Whether an operation that none of the units can run is an error, instead of running on the CPU.
  public var isStrict = false
  /// What a plan is to make small or large.
  public var goal: ComputePlan.Goal = .latency
  /// Predictions after the first that one loading is to serve; counts for the goal `.oneShot` alone.
  public var expectedPredictions = 0
  /// Operation name to device name, for operations that must run there.
  public var pins: [String: String] = [:]
  /// Devices that may not be used.
  public var excludedDevices: [String] = []
  /// A plan saved by `kelvin plan --save` or a bench's verdict, to be used instead of a new one for the model's usual
  /// input sizes. Other sizes get a plan of their own. Not together with `pins`.
  public var plan: URL?
  /// Measurements saved by `Profile.save(to:)` or `kelvin profile --save`, to plan with instead of the user's own.
  public var profile: URL?
  /// Sizes of flexible inputs, by name. A flexible batch size is 1 where nothing is said.
  public var inputShapes: [String: [Int]] = [:]
  /// Whether every size of flexible inputs, and every size that a prediction finds in its data, gets a plan of its own.
  ///
  /// Otherwise sizes up to the same power of two share a plan, that of the first of them, so that a size which changes
  /// with every prediction is seldom planned anew. With `isDeterministic` every size has its own.
  public var plansEverySize = false
  /// Where compiled forms are kept between processes; the user's cache folder where nil.
  public var cacheDirectory: URL?
  /// Whether anything is kept between processes.
  public var usesCache = true
  /// Whether choices by timing are forbidden, so that results repeat bit for bit. For now nothing is chosen by timing,
  /// whatever is said here.
  public var isDeterministic = false

  /// The default configuration: all units, a plan of our own, the user's cache.
  public init(computeUnits: ComputeUnits = .all) { self.computeUnits = computeUnits }
}

/// How exactly a model must be computed at least. For now every device computes in float32 whatever is asked for, so that
/// all of these give the same numbers in the same time.
public enum ComputePrecision: String, Hashable, Sendable {
  /// `full` where the model's activations are float32; where they are float16, at least as good as float16 arithmetic
  /// with float32 accumulation.
  case automatic
  /// Float32-class results: at most twice the error of a float32 matrix product.
  case full
  /// Products of at least 16 significand bits, float32 accumulation.
  case high
  /// Operands may be rounded to bfloat16 or float16.
  case low
}

extension ModelConfiguration {
  /// - Throws: `ModelError` where the plan or profile file cannot be read.
  func options() throws(ModelError) -> LoadOptions {
    var options = LoadOptions()
    options.request = PlanRequest(
      units: computeUnits.selection, goal: goal.planned, isStrict: isStrict,
      precision: Precision(rawValue: precision.rawValue) ?? .automatic, threads: threadCount ?? defaultThreadCount,
      pins: pins, exclusions: excludedDevices, runs: max(0, expectedPredictions))
    if goal == .sustained {
      let envelope = ThermalEnvelope.assumed(for: MachineDescription(SystemFiles()))
      options.request.power = .init(
        idleWatts: envelope.idleWatts, sustainableWatts: envelope.sustainableWatts)
    }
    options.function = functionName
    options.shapes = inputShapes.mapValues { Shape($0) }
    options.isDeterministic = isDeterministic
    options.plansEverySize = plansEverySize
    if !usesCache {
      options.cacheDirectory = nil
    } else if let cacheDirectory {
      options.cacheDirectory = cacheDirectory.path
    }
    if let plan {
      options.plan = try ModelError.wrapping {
        let bytes = try Bytes(mapping: plan.path)
        return try Plan(json: bytes.withUnsafeBytes { Data($0) })
      }
    }
    if let profile {
      options.profile = try ModelError.wrapping {
        let bytes = try Bytes(mapping: profile.path)
        return try MeasuredProfile(json: bytes.withUnsafeBytes { Array($0) }, document: profile.path)
      }
    }
    return options
  }
}
