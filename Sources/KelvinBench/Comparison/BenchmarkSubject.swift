package import FoundationEssentials
package import KelvinGraph
package import KelvinPlanning
package import KelvinProfiler
package import KelvinRuntime
package import KelvinThermal

/// What is benchmarked: a model with inputs.
package struct BenchmarkSubject {
  package var context: ModelContext
  /// `ML Program`, `ONNX`.
  package var format: String
  /// Sets of tensors, one tensor for each input of the graph. The first is the one that is timed; all of them count
  /// for agreement.
  package var inputs: [[Tensor]]
  /// Whether the inputs were made up, which agreement says.
  package var hasMadeUpInputs: Bool
  /// The output with one element for each class; nil for models without classes.
  package var classes: Int?
  /// The files behind the model, so that reading it can start from the disk.
  package var files: [String]
  /// Seconds that reading the model took.
  package var loadSeconds: Double
  /// Reads the model once more and lets it go; nil where that is not possible.
  package var reload: (() throws -> Void)?
  /// Starts fresh processes; nil where starts are made within this one.
  package var starter: (any BenchmarkStarter)?
  /// Loads the model as a configuration runs it, to be fed with tokens; nil where it takes none.
  package var tokenReader: TokenReaderLoader?

  package typealias TokenReaderLoader = (
    _ configuration: BenchmarkConfiguration, _ plan: Plan, _ threads: Int
  ) throws -> any TokenReader

  package init(
    context: ModelContext, format: String, inputs: [[Tensor]], hasMadeUpInputs: Bool, classes: Int? = nil,
    files: [String] = [], loadSeconds: Double = 0, reload: (() throws -> Void)? = nil,
    starter: (any BenchmarkStarter)? = nil, tokenReader: TokenReaderLoader? = nil
  ) {
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

/// One of the ways to run the model that are compared.
package struct BenchmarkConfiguration: Sendable {
  /// As the user named it: `cpu-only`, `vulkan:0`, a plan file.
  package var label: String
  package var request: PlanRequest
  /// A plan to adopt instead of making one.
  package var plan: Plan?

  package init(label: String, request: PlanRequest, plan: Plan? = nil) {
    self.label = label
    self.request = request
    self.plan = plan
  }
}

package struct BenchmarkOptions {
  /// Whether the best plans are run before one is adopted, where there is a choice.
  package var triesPlans = true
  package var isDeterministic = false
  /// Whether outputs are compared with the reference device's.
  package var checksAgreement = true
  /// Seconds that the reference device may take, by estimate; nothing is compared above.
  package var referenceBudget = 60.0
  /// The moment on the benchmark's clock from which no round is added to those that a comparison needs at least; nil
  /// for as many as the workload asks for.
  package var endsBy: Double?
  /// A machine of another class whose heat a stream has in place of this one's; nil for the real one.
  package var simulatedHeat: (envelope: ThermalEnvelope, speed: Double)?
  /// Makes others that work beside the model; nil for threads of this process.
  package var backgroundLoad: ((CoLoad) -> any BackgroundLoad)?
  /// When it is, in words, for the page.
  package var date = ""
  /// Told at once what the user should know while it runs.
  package var remark: (String) -> Void = { _ in }
  /// Takes each line of the journal as it is written.
  package var keep: (Data) -> Void = { _ in }
  /// Ends the benchmark with what has been measured by then.
  package var cancellation: Cancellation?

  package init() {}
}
