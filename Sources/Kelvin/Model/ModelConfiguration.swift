public import FoundationEssentials
public import KelvinFeatures
public import KelvinIsolation

/// The options for loading and running a model.
public struct ModelConfiguration: Hashable, Sendable {
  /// The processing units the model may use.
  public var computeUnits: ComputeUnits
  /// A display name; nil for the file's name.
  public var modelDisplayName: String?
  /// The function to call; nil for the model's default function.
  public var functionName: String?
  /// Hints about how the model will be used.
  public var optimizationHints = OptimizationHints()
  /// The minimum precision of the computation.
  public var precision: ComputePrecision = .automatic
  /// The number of CPU threads; nil for one per core that the process may use.
  public var threadCount: Int?
  /// Whether it is an error if no requested unit supports an operation, or if a device is lost, hangs or runs out of
  /// memory. Otherwise the operation runs on the CPU or another device.
  public var isStrict = false
  /// The objective of planning. For ``ComputePlan/Goal/throughput`` and ``ComputePlan/Goal/sustained``, predictions may
  /// alternate between several plans; ``Model/remarks`` then tells their shares.
  public var goal: ComputePlan.Goal = .latency
  /// The number of predictions after the first that one loading is expected to serve. Only the goal `.oneShot` uses it.
  public var expectedPredictions = 0
  /// The expected iterations of a loop whose count neither the model nor a measurement gives; nil for 10.
  public var expectedIterations: Double?
  /// The machine class whose power budget the goal `.sustained` uses: one of `ThermalMonitor.envelopes` or the path of
  /// an envelope file. Nil for this machine's class.
  public var thermalEnvelope: String?
  /// The device for each operation that must run on a certain device, by the operation's name.
  public var pins: [String: String] = [:]
  /// The devices that must not be used.
  public var excludedDevices: [String] = []
  /// A saved plan to use instead of a new plan for the default input sizes. Other sizes get a plan of their own. Cannot
  /// be combined with `pins`. If the file has several plans with shares, predictions alternate between them, whatever
  /// the goal.
  ///
  /// The file is one from `ComputePlan.save(to:)`, `kelvin plan --save` or a benchmark, or a benchmark's report.
  public var plan: URL?
  /// The measurements to plan with instead of the user's stored ones: a file from `Profile.save(to:)` or `kelvin
  /// profile --save`, or the name of a profile that comes with Kelvin.
  public var profile: URL?
  /// The graph to plan and measure in a function that has several. If nil, plans and profiles cover all graphs, and
  /// benchmarks cover the graph with the most work.
  public var graphName: String?
  /// The sizes of flexible inputs, by name. A flexible batch size defaults to 1.
  public var inputShapes: [String: [Int]] = [:]
  /// Whether every size of flexible inputs, and every data-dependent size, gets a plan of its own.
  ///
  /// Otherwise sizes up to the same power of two share the plan of the first of them, so that sizes which change with
  /// every prediction rarely need a new plan. With `isDeterministic` every size has its own plan.
  public var plansEverySize = false
  /// The folder of the persistent cache of compiled models; nil for the user's cache folder.
  public var cacheDirectory: URL?
  /// The time after which a submission to a device counts as hung; nil for 10 seconds. The time is never less than
  /// several times the submission's expected duration.
  ///
  /// Compilation and first runs keep limits of their own. A software driver that still computes is not hung.
  ///
  /// A device that is lost or hangs is opened anew once. If it fails again, it is not used again in this process, and
  /// other devices that the units allow take over, unless `isStrict`.
  public var deviceTimeout: Duration?
  /// Whether devices other than the CPU are checked while the model predicts.
  ///
  /// A device then computes a known result after its first prediction in the process, from time to time between
  /// predictions, and when ``Model/checkDevices()`` is called. A device that computes wrongly is not used again; see
  /// ``Model/doubtfulPredictions``. The checks take at most 0.5 % of the time of predictions.
  public var checksDevices = true
  /// Whether the persistent cache is used.
  public var usesCache = true
  /// Whether choices by timing are forbidden, so that results repeat bit for bit; ``tuning`` then has no effect.
  /// Devices that choose only kernels by timing always repeat their results, because the candidates give equal results.
  public var isDeterministic = false
  /// Which kernels are chosen by timing.
  public var tuning: ComputeTuning = .automatic
  /// The program's code for the custom layers and custom models of Core ML; nil if the program has none.
  public var customCode: CustomCode?
  /// Whether links among the files that a model refers to are followed: symbolic links, and files with several hard
  /// links.
  ///
  /// Links can lead to any file of this machine, so they are refused by default. A path outside the model's folder is
  /// always refused. The model's own path may always be a link.
  public var allowsLinks = false
  /// The process in which the model is read first. The default is ``Isolation/standard``.
  ///
  /// Images have the isolation ``Isolation/standard``, also those that a model decodes itself. A model in memory cannot
  /// be isolated.
  public var isolation = Isolation.standard
  /// The maximum time for reading and compiling the model together, and for each prediction; nil for no limit.
  /// Longer work ends with an error of code `limit`, at the next point between two operations.
  public var timeLimit: Duration?
  /// The maximum bytes by which reading and compiling the model, or each prediction, may grow the process's memory; nil
  /// for no limit. More ends with an error of code `limit`.
  ///
  /// Memory-mapped files do not count. Memory that other work of the process allocates meanwhile does count.
  public var maximumMemory: Int?
  /// The name of the last graph pass to run; nil for all passes.
  package var lastPass: String?
  /// Hypothetical links to plan with, such as `cpu:vulkan:0=64GB/s,5us`. The resulting plan cannot be run.
  package var links: [String] = []
  /// Whether planning may use a profile of devices that this machine does not have.
  package var allowsWhatIf = false

  /// Creates the default configuration: all units, a new plan, the user's cache.
  public init(computeUnits: ComputeUnits = .all) { self.computeUnits = computeUnits }
}

/// The kernels that are chosen by timing. The candidates of a device give equal results and differ only in speed, for
/// example in the number of results that a GPU keeps in registers in a convolution or matrix product.
///
/// Timings are cached with compiled models, for the driver, the version of Kelvin and every model with such a layer.
/// Nothing is timed if ``ModelConfiguration/usesCache`` is false. Profiles list each layer's kernel (`kernel` in their
/// JSON).
public enum ComputeTuning: String, Hashable, Sendable, CaseIterable {
  /// Uses earlier timings. On GPUs it times more kernels while a model is loaded, the largest layers first, for about a
  /// second. Later loads time the rest; specializations made during predictions use existing timings. Software drivers
  /// time nothing, because they compile slowly.
  case automatic
  /// Times all kernels that have no timing, on every device. The first load then takes as long as needed: minutes with
  /// software drivers.
  case exhaustive
  /// Times nothing and uses no earlier timings.
  case off
}

/// The minimum precision of a model's computation.
///
/// For ``low``, a CPU that multiplies bfloat16 (AVX512_BF16) rounds the operands of products with weights and of most
/// convolutions to bfloat16; for a single row only the weights. A CPU with fast float16 arithmetic (AVX512_FP16, NEON)
/// rounds those of products with weights to float16. A GPU that stores float16 keeps weights and values
/// between layers in float16. Everything else is always float32, such as depthwise convolutions on the CPU.
/// ``ComputePlan/remarks`` say if a precision makes no difference.
public enum ComputePrecision: String, Hashable, Sendable, CaseIterable {
  /// `full` for models with float32 activations. For float16 activations, at least the precision of float16 arithmetic
  /// with float32 accumulation.
  case automatic
  /// Float32 results: at most twice the error of a float32 matrix product.
  case full
  /// Products of at least 16 significand bits, float32 accumulation. No device has kernels for this precision, so it
  /// equals ``full``.
  case high
  /// Operands and values between layers may be rounded to bfloat16 or float16.
  case low

  /// The precisions that differ from one another.
  package static let choices: [ComputePrecision] = [.automatic, .full, .low]
}
