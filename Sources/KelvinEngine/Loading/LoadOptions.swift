package import KelvinBasics
package import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning
package import KelvinRuntime

/// Everything that decides how a model is loaded, planned and compiled.
package struct LoadOptions: Sendable {
  package var request = PlanRequest()
  /// A plan to be adopted instead of a new one.
  package var plan: Plan?
  /// Measurements to plan with instead of the user's own store.
  package var profile: MeasuredProfile?
  /// Whether a profile of other devices than are here is planned with as if they were: nothing of it can be run.
  package var allowsWhatIf = false
  /// Whether the request's thread count was asked for; a what-if otherwise takes the profile's.
  package var isThreadCountGiven = false
  /// Links to ask about, as `LinkOverride` reads them; they make any plan a what-if.
  package var links: [String] = []
  /// By input name.
  package var shapes: [String: Shape] = [:]
  /// Nil for the model's default.
  package var function: String?
  /// The graph to plan and measure, of a function that has several; nil for the one with the most work.
  package var part: String?
  /// The inputs of a run that finds sizes which depend on data, for what plans or measures without predicting; nil
  /// where such graphs are built by predictions alone.
  package var sample: Sample?
  package var isDeterministic = false
  /// Which kernels may be chosen by timing, and for how long, for all that is compiled.
  package var tuning = KernelTuning()
  /// How long devices may take.
  package var watchdog = Watchdog.standard
  /// Whether every size of flexible inputs is planned on its own; else sizes up to the same power of two share a plan.
  package var plansEverySize = false
  /// The last pass that is to run, by its name in `Pipeline.names`; nil for all of them.
  package var lastPass: String?
  /// Whether links among the model's files are followed.
  package var allowsLinks = false
  /// Where packed weights, pipelines and measurements are kept; nil keeps nothing.
  package var cacheDirectory: String? = CacheDirectory.standard

  /// What loading the model may take, and each prediction.
  package var limits = WorkBudget.Limits()

  package init() {}

  /// Whether sizes of one bucket share a plan.
  var sharesPlans: Bool { !plansEverySize && !isDeterministic }

  /// Inputs of a run that finds sizes.
  package struct Sample: Sendable {
    package var values: DictionaryFeatureProvider
    /// Of what is made up for inputs that `values` lacks.
    package var seed: UInt64

    package init(_ values: DictionaryFeatureProvider = DictionaryFeatureProvider(dictionary: [:]), seed: UInt64 = 0) {
      self.values = values
      self.seed = seed
    }
  }
}
