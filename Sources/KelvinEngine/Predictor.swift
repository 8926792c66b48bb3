import KelvinBasics
import KelvinDevices
package import KelvinFeatures
package import KelvinGraph
package import KelvinRuntime

/// A loaded model that predicts feature values from feature values, on any number of threads at once.
package final class Predictor: Sendable {
  package let loaded: LoadedModel
  /// The types of the model's states, by name.
  package let states: [String: TensorType]
  /// The device that holds each state under the plan for the usual sizes.
  package let stateDevices: [String: String]
  private let executor: FunctionExecutor
  private let graphs: [GraphSpecializations]
  /// The number of concurrent predictions in a batch.
  package let batchWidth: Int
  /// Whether the plan for the usual sizes uses devices other than the host.
  package let usesOtherDevices: Bool
  /// The number of plans between which predictions of the usual sizes alternate; 1 if one plan runs all of them.
  package let planCount: Int
  private let specializationLimit: Int
  /// Joins concurrent predictions into batches; nil if each runs by itself.
  private let batch: PredictionBatches?
  /// The variants that predictions used most recently. Each has memory of its own.
  private let variants = SpecializationCache<Variant, Predictor>(limit: 4)
  /// The costs of sizes other than the usual ones, of this predictor and its variants.
  private let counts: ConditionLock<SpecializationCounts>

  /// The difference between a variant and the model itself.
  private enum Variant: Hashable {
    /// Padding rows before the rows of inputs; by input, the axis along which it grows.
    case padded([String: Int])
    /// States instead of inputs and outputs.
    case carrying([CarriedCache])
    /// These constants as inputs.
    case overriding(Set<String>)
    /// Host execution of control flow that a graph could not contain for some prediction's sizes. Once made, this
    /// variant runs all predictions.
    case hostControlFlow
  }

  /// - Parameters:
  ///   - compiled: the compiled graphs for the usual sizes, as `PlannedModel.compiled` returns them.
  ///   - specializationLimit: the number of other specializations of each graph that are kept.
  package convenience init(_ loaded: LoadedModel, _ compiled: [CompiledMixture?], specializationLimit: Int) {
    self.init(
      loaded, compiled, specializationLimit: specializationLimit, counts: ConditionLock(SpecializationCounts()))
  }

  private init(
    _ loaded: LoadedModel, _ compiled: [CompiledMixture?], specializationLimit: Int,
    counts: ConditionLock<SpecializationCounts>, batch: PredictionBatches? = nil
  ) {
    self.loaded = loaded
    self.batch = batch
    self.specializationLimit = specializationLimit
    self.counts = counts
    executor = FunctionExecutor(loaded.function)
    graphs = compiled.enumerated().map {
      GraphSpecializations(loaded, index: $0, $1, limit: specializationLimit, counts)
    }
    let known = compiled.compactMap { $0 }.flatMap(\.models)
    let states = known.flatMap { model in model.graph.states.map { ($0.name, model.graph[$0.read].type) } }
    self.states = Dictionary(states) { first, _ in first }
    stateDevices = known.reduce(into: [:]) { devices, model in
      devices.merge(model.stateDevices) { first, _ in first }
    }
    // One prediction for each core, and one more for each other device that executes while the host prepares the next.
    let others = Set(known.flatMap { model in model.placement.values.filter { $0 != model.host } })
    usesOtherDevices = !others.isEmpty
    planCount = compiled.compactMap { $0?.models.count }.max() ?? 1
    batchWidth = min(ExecutionContextPool.limit, max(loaded.options.request.threads, 1) + others.count)
  }

  /// Returns a predictor of the same compiled graphs, with other features or host operations around them.
  package func with(_ function: Function) -> Predictor { Predictor(self, function) }

  private init(_ other: Predictor, _ function: Function) {
    loaded = other.loaded
    counts = other.counts
    states = other.states
    stateDevices = other.stateDevices
    executor = FunctionExecutor(function)
    batch = other.batch
    graphs = other.graphs
    batchWidth = other.batchWidth
    specializationLimit = other.specializationLimit
    usesOtherDevices = other.usesOtherDevices
    planCount = other.planCount
  }

  /// Returns a predictor of the same model whose concurrent predictions run as batches.
  func joining(_ batch: PredictionBatches) -> Predictor {
    // All sizes of batches are kept.
    let sizes = batch.queue.limit.trailingZeroBitCount + 1
    return Predictor(
      loaded, [nil], specializationLimit: max(specializationLimit, sizes), counts: counts, batch: batch)
  }

  /// Runs the only graph, specialized for types; if a device fails, once more without it.
  ///
  /// - Parameter body: writes the inputs, runs the session and reads the outputs.
  /// - Throws: the errors of compiling and of `body`; `device` if no other device can do the work.
  func runGraph<Result: TimedResult>(for types: SlotTypes, _ body: (Session) throws -> Result) throws -> Result {
    try loaded.fallback.withFallback(size: types.shapes.values.reduce(0) { $0 + $1.count }) { exclusions in
      try checked { use in
        let model = try use(graphs[0].model(types, exclusions, nil))
        return try graphs[0].contexts.withSession(of: model, CallerMemory(), nil, body)
      }
    }
  }

  /// The costs of sizes other than the usual ones.
  package var specializationCounts: SpecializationCounts { counts.withLock(\.self) }

  /// Returns the same model on inputs that may have padding rows before their rows; nil if it is not a single graph
  /// of known sizes. Building the graph determines whether it supports padding; predictions report if it does not.
  ///
  /// - Parameter growing: by input, the axis along which it grows by a row per step.
  package func padded(_ growing: [String: Int]) -> Predictor? {
    guard let function = loaded.function.padded(growing) else { return nil }
    return try? variant(.padded(growing), nil) { loaded.with(function) }
  }

  /// Returns the same model with caches in states, which `makeState(_:)` makes with the inputs' types; nil if it is not
  /// a single graph of known sizes. Building the graph determines whether the caches have suitable types; predictions
  /// report if they do not.
  package func carrying(_ caches: [CarriedCache]) -> Predictor? {
    guard let function = loaded.function.carrying(caches) else { return nil }
    return try? variant(.carrying(caches), nil) { loaded.with(function) }
  }

  /// Returns the same model with constants as inputs; nil if no constant has a value.
  private func overriding(
    _ values: DictionaryFeatureProvider, _ cancellation: Cancellation?
  ) throws(ModelError) -> Predictor? {
    let names = executor.binding.overridden(values)
    guard !names.isEmpty, let make = executor.binding.function.overriding else { return nil }
    return try variant(.overriding(names), cancellation) {
      // Results computed from constants are not shared, because both models name them by the same nodes.
      loaded.with(
        try loaded.program.source.opened.vouching { try make(names) }, keyedBy: ["overriding"] + names.sorted())
    }
  }

  /// Returns the same model with host execution of the control flow.
  ///
  /// - Throws: the error of the control flow if the host cannot execute it either.
  private func runningOnHost(
    _ flow: DynamicShapeControlFlow, _ cancellation: Cancellation?
  ) throws(ModelError) -> Predictor {
    try variant(.hostControlFlow, cancellation) {
      let made = try loaded.program.source.opened.vouching { try executor.binding.function.runningOnHost(flow) }
      return loaded.with(made, keyedBy: made.hostControlFlowKey)
    }
  }

  /// Returns a variant, made at its first use. Its graphs are built and compiled when it predicts.
  private func variant(
    _ variant: Variant, _ cancellation: Cancellation?, _ make: () throws -> LoadedModel
  ) throws(ModelError) -> Predictor {
    try ModelError.wrapping {
      try variants.value(for: variant, cancellation) {
        let model = try make()
        return Predictor(
          model, model.graphs.map { _ in nil }, specializationLimit: specializationLimit, counts: counts)
      }
    }
  }

  /// The input of a padded model with the number of padding rows.
  package static let paddingInput = Function.paddingInput

  /// Predicts once. Blocks the calling thread.
  ///
  /// If a device is lost, hangs or runs out of memory, its work is repeated on the other devices that the units
  /// allow, also in later predictions (`DeviceFallback`).
  ///
  /// - Throws: `featureType` naming an input that is missing, unknown or does not fit, or a backing that does not fit
  ///   its output; `device` if no other device can do the work; `predictionCancelled`; `io` if a file of the model
  ///   changed since it was loaded.
  package func predict(
    _ input: some FeatureProvider, _ backings: [String: OutputBacking], _ cancellation: Cancellation?
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try run(input, backings, cancellation).features
  }

  /// Does the same as `predict`, and measures the time of the graphs.
  package func run(
    _ input: some FeatureProvider, _ backings: [String: OutputBacking] = [:], _ cancellation: Cancellation? = nil
  ) throws(ModelError) -> FunctionExecutor.Result {
    try checkStateless()
    let values = try executor.binding.values(input)
    if let other = try overriding(values, cancellation) ?? variants[.hostControlFlow] {
      return try other.run(values, backings, cancellation)
    }
    if let batch, backings.isEmpty, try batch.takes(executor.binding.shapes(values)) {
      // A batch also runs for other callers, so none of them cancels it.
      return try answering(cancellation) { _ in
        try executor.run(values, of: batch.graph.context.graph) { inputs in
          try batch.queue.call(inputs) { try run($0, of: batch.graph).outputs }
        }
      }
    }
    var shapeMismatch: DynamicShapeControlFlow?
    let result = try answering(cancellation) { cancellation -> FunctionExecutor.Result? in
      do {
        return try loaded.fallback.withFallback(size: try executor.binding.size(values)) { exclusions in
          try checked { use in
            try executor.run(values, backings: backings, cancellation) { graph, types in
              try use(graphs[graph].model(types, exclusions, cancellation))
            } withSession: { graph, model, memory, body in
              try graphs[graph].contexts.withSession(of: model, memory, cancellation, body)
            }
          }
        }
      } catch let flow as DynamicShapeControlFlow {
        shapeMismatch = flow
        return nil
      }
    }
    if let shapeMismatch {
      return try runningOnHost(shapeMismatch, cancellation).run(values, backings, cancellation)
    }
    guard let result else { preconditionFailure("no result and no reason") }
    return result
  }

  /// Returns memory for the model's states, filled with zeros.
  ///
  /// - Parameter types: the types of states whose sizes the model leaves open, by name.
  package func makeState(_ types: [String: TensorType] = [:]) -> StateMemory {
    StateMemory(model: loaded.context.key.description, types: types)
  }

  /// Predicts once, reading and writing states. Blocks the calling thread.
  ///
  /// If a device fails, a state that no prediction has changed is reset to zeros. Any other state is lost with the
  /// device, since its contents are unknown.
  ///
  /// - Throws: the errors of `predict`; `parameters` for the state of another model, or a state that another
  ///   prediction is using.
  package func predict(
    _ input: some FeatureProvider, using state: StateMemory, _ backings: [String: OutputBacking],
    _ cancellation: Cancellation?
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try run(input, using: state, backings, cancellation).features
  }

  /// Does the same as `predict(_:using:_:_:)`, and measures the time of the graphs.
  package func run(
    _ input: some FeatureProvider, using state: StateMemory, _ backings: [String: OutputBacking] = [:],
    _ cancellation: Cancellation? = nil
  ) throws(ModelError) -> FunctionExecutor.Result {
    guard state.model == loaded.context.key.description else {
      throw ModelError(.parameters, "the state was made by another model; make one with this model's makeState()")
    }
    let values = try executor.binding.values(input)
    var isRead = false
    func discard() { if isRead { state.spoil() } }
    return try answering(cancellation, repeats: false, discarding: discard) { cancellation in
      try state.borrowing {
        isRead = true
        return try loaded.fallback.withFallback(size: try executor.binding.size(values)) { exclusions in
          try checked(losing: state.lose) { use in
            try executor.run(
              values, backings: backings, states: state.types.mapValues(\.shape), cancellation
            ) { graph, types in
              try use(graphs[graph].model(types, exclusions, cancellation))
            } withSession: { _, model, _, body in
              try state.using(model, body)
            }
          }
        }
      }
    }
  }

  /// Runs a prediction, and checks its devices if a check is due (`ResultGuard`).
  ///
  /// - Parameters:
  ///   - lose: called with the failure if the results are wrong; throws the failure of what cannot be repeated.
  ///   - predict: passes each compiled model that it uses to its argument, which returns the model.
  /// - Throws: the errors of `predict`; `device` if a device computes wrongly.
  private func checked<Result: TimedResult>(
    losing lose: (DeviceError) throws -> Void = { _ in },
    _ predict: (_ use: (CompiledModel) -> CompiledModel) throws -> Result
  ) throws -> Result {
    var devices: [any Device] = []
    let result = try predict { model in
      devices += model.otherDevices
      return model
    }
    do throws(RuntimeError) { try loaded.guardian.ended(on: devices, seconds: result.seconds) } catch {
      if case .device(let failure) = error { try lose(failure) }
      throw error
    }
    return result
  }

  /// Makes one prediction within the limits of the model's options, and rejects it if the model's files changed since
  /// loading.
  ///
  /// - Parameters:
  ///   - repeats: whether the prediction may be repeated.
  ///   - discarding: called if a result was computed and is rejected.
  ///   - predict: receives a cancellation that is set if a limit is reached or the caller cancels.
  /// - Throws: `io` if the files changed, whichever other error occurred.
  private func answering<Result>(
    _ cancellation: Cancellation?, repeats: Bool = true, discarding: () -> Void = {},
    _ predict: (Cancellation?) throws -> Result
  ) throws(ModelError) -> Result {
    try WorkBudget.bounding(loaded.options.limits) { () throws(ModelError) in
      WorkBudget.enter(.predicting)
      let source = loaded.program.source
      return try ModelError.wrapping {
        try source.opened.vouching(repeats: repeats, discarding: discarding) {
          try Cancellation.bounded(cancellation, predict)
        }
      }
    }
  }

  /// - Throws: `parameters` if the model has states and none is given.
  private func checkStateless() throws(ModelError) {
    guard let name = states.keys.min() else { return }
    throw ModelError(
      .parameters,
      "the model has the state '\(name)': make one with makeState() and predict with prediction(from:using:)")
  }

  /// Predicts every item of a batch, several at a time; results are in the batch's order. Blocks the calling thread.
  ///
  /// - Throws: the `ModelError` of the first item that fails, which it names; items after it may be skipped.
  package func predict(
    batch: some BatchProvider, _ cancellation: Cancellation?
  ) throws(ModelError) -> ArrayBatchProvider {
    let count = batch.count
    let run = BatchRun(count: count) { (index) throws(ModelError) in
      func predict(_ item: some FeatureProvider) throws(ModelError) -> DictionaryFeatureProvider {
        try self.predict(item, [:], cancellation)
      }
      return try predict(batch.features(at: index))
    }
    // A helper thread that starts too late finds no work left; nothing waits for helpers that have not begun.
    for _ in 1..<max(1, min(batchWidth, count)) { BlockingWork.start { run.work() } }
    run.work()
    return ArrayBatchProvider(array: try run.outputs())
  }
}
