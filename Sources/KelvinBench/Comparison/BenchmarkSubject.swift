package import FoundationEssentials
package import KelvinGraph
package import KelvinPlanning
package import KelvinProfiler
package import KelvinRuntime
package import KelvinThermal

/// The subject of a benchmark: a model with inputs.
package struct BenchmarkSubject {
  package var context: ModelContext
  /// The name of the model's format: `ML Program`, `ONNX`.
  package var format: String
  /// Sets of tensors, one tensor for each input of the graph. Timings use the first set; agreement uses all of them.
  package var inputs: [[Tensor]]
  /// The frames of a stream; nil to repeat the first set of inputs.
  package var frames: BenchmarkFrames?
  /// Whether the inputs are synthetic, which a note states.
  package var hasMadeUpInputs: Bool
  /// The index of the output with one element for each class; nil for models without classes.
  package var classes: Int?
  /// The paths of the model's files, so that a cold start can read them from disk.
  package var files: [String]
  /// Seconds that reading the model took.
  package var loadSeconds: Double
  /// Reads the model again and releases it; nil when that is not possible.
  package var reload: (() throws -> Void)?
  /// Starts new processes; nil when starts are made within this process.
  package var starter: (any BenchmarkStarter)?
  /// Loads the model with a configuration's plan to read tokens; nil for models that do not read tokens.
  package var tokenReader: TokenReaderLoader?

  /// The frames of a source, which all configurations share.
  package struct BenchmarkFrames {
    /// The name of the source.
    package var source: String
    /// Reads the next frame, after passing over the given number of frames. A source that ends begins anew.
    package var next: (_ passingOver: Int) throws -> [Tensor]

    package init(source: String, next: @escaping (_ passingOver: Int) throws -> [Tensor]) {
      (self.source, self.next) = (source, next)
    }
  }

  package typealias TokenReaderLoader = (
    _ configuration: BenchmarkConfiguration, _ plan: Plan, _ threads: Int
  ) throws -> any TokenReader

  package init(
    context: ModelContext, format: String, inputs: [[Tensor]], hasMadeUpInputs: Bool, classes: Int? = nil,
    files: [String] = [], loadSeconds: Double = 0, reload: (() throws -> Void)? = nil,
    starter: (any BenchmarkStarter)? = nil, tokenReader: TokenReaderLoader? = nil, frames: BenchmarkFrames? = nil
  ) {
    self.frames = frames
    self.tokenReader = tokenReader
    self.context = context
    self.format = format
    self.inputs = inputs
    self.hasMadeUpInputs = hasMadeUpInputs
    self.classes = classes
    self.files = files
    self.loadSeconds = loadSeconds
    self.reload = reload
    self.starter = starter
  }
}

/// A configuration to compare: the request for a plan, or a given plan.
package struct BenchmarkConfiguration: Sendable {
  /// The name that the user gave: `cpu-only`, `vulkan:0`, a plan file.
  package var label: String
  package var request: PlanRequest
  /// The plan to adopt; nil to make one.
  package var plan: Plan?

  package init(label: String, request: PlanRequest, plan: Plan? = nil) {
    self.label = label
    self.request = request
    self.plan = plan
  }
}

package struct BenchmarkOptions {
  /// Whether the best plans are run before one is adopted, when there are several.
  package var triesPlans = true
  package var isDeterministic = false
  /// Whether outputs are compared with the reference device's.
  package var checksAgreement = true
  /// The most seconds that the reference device may take, by estimate; above, outputs are not compared.
  package var referenceBudget = 60.0
  /// The time on the benchmark's clock after which only the rounds that a comparison needs are run; nil for all rounds
  /// of the workload.
  package var endsBy: Double?
  /// The seconds of a phase, for each configuration, after which only the rounds that a comparison needs are run; nil
  /// for all rounds of the workload.
  package var phaseLimit: Double?
  /// The machine whose heat is simulated for a stream; nil to observe this machine.
  package var simulatedHeat: (envelope: ThermalEnvelope, speed: Double)?
  /// Creates the background load; nil for threads of this process.
  package var backgroundLoad: ((CoLoad) -> any BackgroundLoad)?
  /// The date and time as a string for the page.
  package var date = ""
  /// Called with remarks for the user during the run.
  package var remark: (String) -> Void = { _ in }
  /// Called with each line of the journal as it is written.
  package var keep: (Data) -> Void = { _ in }
  /// Ends the benchmark early; the measurements so far are its result.
  package var cancellation: Cancellation?

  package init() {}
}
