package import KelvinBasics
package import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
package import KelvinIsolation
package import KelvinMeasurements
package import KelvinPlanning
package import KelvinRuntime

/// The options for loading, planning and compiling a model.
package struct LoadOptions: Sendable {
  package var request = PlanRequest()
  /// A plan to use instead of a new one.
  package var plan: Plan?
  /// Measurements to plan with instead of the user's own store.
  package var profile: MeasuredProfile?
  /// Whether a profile of absent devices may be used for planning. The resulting plan cannot run.
  package var allowsWhatIf = false
  /// Whether the user gave the thread count; otherwise a what-if plan uses the profile's.
  package var isThreadCountGiven = false
  /// Links of a what-if plan, as `LinkOverride` parses them; any link makes the plan a what-if plan.
  package var links: [String] = []
  /// The shapes of inputs by name.
  package var shapes: [String: Shape] = [:]
  /// The function's name; nil for the model's default.
  package var function: String?
  /// The name of the graph to plan and measure, for a function with several; nil for the graph with the most work.
  package var part: String?
  /// The inputs of a run that determines data-dependent sizes, for planning or measuring without a prediction. Nil if
  /// only predictions build such graphs.
  package var sample: Sample?
  package var isDeterministic = false
  /// Which kernels may be chosen by timing, and for how long, in all compilations.
  package var tuning = KernelTuning()
  /// The time limits of devices.
  package var watchdog = Watchdog.standard
  /// Whether the devices' results are checked while the model predicts.
  package var checksResults = true
  /// Whether every size of flexible inputs has its own plan. Otherwise sizes up to the same power of two share a
  /// plan.
  package var plansEverySize = false
  /// The last pass to run, by its name in `Pipeline.names`; nil for all passes.
  package var lastPass: String?
  /// The program's code for custom layers and models.
  package var customCode: CustomCode?
  /// Whether links among the model's files are followed.
  package var allowsLinks = false
  /// Whether `LoadedModel.init(path:options:)` reads the model in a worker first.
  package var isolation = Isolation.none
  /// The folder of packed weights, pipelines and measurements; nil keeps nothing.
  package var cacheDirectory: String? = CacheDirectory.standard

  /// The limits for loading the model, and for each prediction.
  package var limits = WorkBudget.Limits()

  package init() {}

  /// Whether sizes of one bucket share a plan.
  var sharesPlans: Bool { !plansEverySize && !isDeterministic }

  /// The inputs of a run that determines sizes.
  package struct Sample: Sendable {
    package var values: DictionaryFeatureProvider
    /// The seed for inputs that `values` lacks.
    package var seed: UInt64

    package init(_ values: DictionaryFeatureProvider = DictionaryFeatureProvider(dictionary: [:]), seed: UInt64 = 0) {
      self.values = values
      self.seed = seed
    }
  }
}
