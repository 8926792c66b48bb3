public import FoundationEssentials

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
  /// Whether an operation that none of the units can run is an error, instead of running on the CPU; and whether a device
  /// that is lost, hangs or has no memory is.
  public var isStrict = false
  /// What a plan is to make small or large.
  public var goal: ComputePlan.Goal = .latency
  /// Predictions after the first that one loading is to serve; counts for the goal `.oneShot` alone.
  public var expectedPredictions = 0
  /// How often a loop is expected to go round whose limit neither the model nor a measurement tells; 10 where nil.
  public var expectedTrips: Double?
  /// The class of machine whose power budget the goal `.sustained` goes by, one of `ThermalMonitor.envelopes` or the path
  /// of such a file; that of this machine where nil.
  public var thermalEnvelope: String?
  /// Operation name to device name, for operations that must run there.
  public var pins: [String: String] = [:]
  /// Devices that may not be used.
  public var excludedDevices: [String] = []
  /// A plan saved by `ComputePlan.save(to:)`, `kelvin plan --save` or a bench's verdict, or a bench's report, to be used
  /// instead of a new plan for the model's usual input sizes. Other sizes get a plan of their own. Not together with
  /// `pins`.
  public var plan: URL?
  /// Measurements saved by `Profile.save(to:)` or `kelvin profile --save`, or the name of a profile that comes with
  /// Kelvin, to plan with instead of the user's own.
  public var profile: URL?
  /// The graph that plans and measurements are about, of a function that has several. Where nil, plans and profiles are
  /// about all of them, and benchmarks about the one with the most work.
  public var graphName: String?
  /// Sizes of flexible inputs, by name. A flexible batch size is 1 where nothing is said.
  public var inputShapes: [String: [Int]] = [:]
  /// Whether every size of flexible inputs, and every size that a prediction finds in its data, gets a plan of its own.
  ///
  /// Otherwise sizes up to the same power of two share a plan, that of the first of them, so that a size which changes
  /// with every prediction is seldom planned anew. With `isDeterministic` every size has its own.
  public var plansEverySize = false
  /// Where compiled forms are kept between processes; the user's cache folder where nil.
  public var cacheDirectory: URL?
  /// How long a device may be at work on one submission before it counts as hung; 10 seconds where nil, and in any case
  /// several times as long as it is expected to take. A device that hangs is not used again in this process; other
  /// devices that the units allow do what it was to do, unless `isStrict`.
  public var deviceTimeout: Duration?
  /// Whether anything is kept between processes.
  public var usesCache = true
  /// Whether choices by timing are forbidden, so that results repeat bit for bit, as they do on devices whose kernels
  /// alone are chosen so: these give the same numbers. ``tuning`` means nothing then.
  public var isDeterministic = false
  /// Which kernels are chosen by timing.
  public var tuning: ComputeTuning = .automatic
  /// Whether links among the files that a model names are followed: symbolic links, and files that have other names.
  ///
  /// They may lead to any file of this machine, so they are refused unless this is set; a path outside the model's
  /// folder is always. The model's own path may be a link either way.
  public var allowsLinks = false
  /// Seconds that reading and compiling the model may take together, and then each prediction; as long as it takes where
  /// nil. What takes longer ends with an error of code `limit`, at the next point between two operations.
  public var maximumSeconds: Double?
  /// Bytes of the host's memory by which reading and compiling the model, and then each prediction, may make the process
  /// grow; as much as there is where nil. What takes more ends with an error of code `limit`. Files that are mapped
  /// into memory do not count; what other work of the process takes meanwhile does.
  public var maximumMemory: Int?
  /// The last pass that runs over a graph, by its name; nil for all of them.
  package var lastPass: String?
  /// Links to plan as if they were so, `cpu:vulkan:0=64GB/s,5us`; they make any plan one that cannot be run.
  package var links: [String] = []
  /// Whether a profile of devices that are not here is planned with as if they were.
  package var allowsWhatIf = false

  /// The default configuration: all units, a plan of our own, the user's cache.
  public init(computeUnits: ComputeUnits = .all) { self.computeUnits = computeUnits }
}

/// Which kernels are chosen by timing, among those of a device that give the same numbers and differ in speed alone: how
/// many results of a convolution, or of a product with constant weights, a graphics card keeps in registers.
///
/// What is found is kept with compiled forms, for this driver and version of Kelvin and for every model with such a layer;
/// nothing is timed where ``ModelConfiguration/usesCache`` is false. Profiles say which kernels layers have (`kernel` in
/// their JSON).
public enum ComputeTuning: String, Hashable, Sendable, CaseIterable {
  /// Uses what was found earlier. On graphics cards it times more, the largest layers first, for about a second of a model's
  /// loading; the rest waits for the next one, and sizes that come up in predictions take what there is. Software drivers take long to compile what is to be timed, so nothing is there.
  case automatic
  /// Times whatever has not been yet, on every device, however long the first loading takes: minutes with software drivers.
  case exhaustive
  /// Times nothing, and uses nothing that was found earlier.
  case off
}

/// How exactly a model must be computed at least. A CPU that multiplies bfloat16 (AVX512_BF16) rounds the operands of
/// products with weights and of most convolutions to it for ``low``, of a single row the weights alone; a graphics card that
/// stores float16 keeps weights and what passes between layers as that. Everything else, convolutions of each channel by
/// itself on the CPU among it, is float32 whatever is asked for. ``ComputePlan/remarks`` say where a precision makes no
/// difference.
public enum ComputePrecision: String, Hashable, Sendable, CaseIterable {
  /// `full` where the model's activations are float32; where they are float16, at least as good as float16 arithmetic
  /// with float32 accumulation.
  case automatic
  /// Float32-class results: at most twice the error of a float32 matrix product.
  case full
  /// Products of at least 16 significand bits, float32 accumulation.
  case high
  /// Operands, and values between layers, may be rounded to bfloat16 or float16.
  case low
}
