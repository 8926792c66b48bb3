import KelvinBasics
package import KelvinFeatures
package import KelvinGraph
package import KelvinRuntime
import Synchronization

/// A loaded model that predicts: feature values in, feature values out, from any number of threads at once.
package final class Predictor: Sendable {
  package let loaded: LoadedModel
  /// The states of the model, by name.
  package let states: [String: TensorType]
  /// The device that each of them lies on under the plan for the usual sizes.
  package let stateDevices: [String: String]
  private let executor: FunctionExecutor
  private let graphs: [GraphSpecializations]
  /// How many predictions are made at a time.
  package let batchWidth: Int
  /// Whether devices other than the host work for the model's usual sizes.
  package let usesOtherDevices: Bool
  private let specializationLimit: Int
  /// By what grows.
  private let padded = Mutex<[[String: Int]: Predictor]>([:])
  /// By the constants for which there were other values. Each is a model of its own.
  private let overriding = SpecializationCache<Set<String>, Predictor>(limit: 4)
  /// The same model with control flow walked that a graph could not hold for the sizes of some prediction, which makes all
  /// from then on.
  private let runningOnHost = Mutex<Predictor?>(nil)
  /// Those of them that are gone.
  private let outlived = Outlived()
  /// Where this one's costs go when it is gone.
  private let outlivedBy: Outlived?

  /// - Parameters:
  ///   - compiled: the compiled forms of the model's graphs for its usual sizes, as `LoadedModel.compiledGraphs` gives
  ///     them.
  ///   - specializationLimit: compiled forms of a graph that are kept besides it.
  ///   - function: the model's function with other features or host steps around the same graphs; nil for its own.
  package convenience init(
    _ loaded: LoadedModel, _ compiled: [CompiledModel?], specializationLimit: Int, function: Function? = nil
  ) {
    self.init(loaded, compiled, specializationLimit: specializationLimit, function: function, outlivedBy: nil)
  }

  private init(
    _ loaded: LoadedModel, _ compiled: [CompiledModel?], specializationLimit: Int, function: Function? = nil,
    outlivedBy: Outlived?
  ) {
    self.loaded = loaded
    self.outlivedBy = outlivedBy
    self.specializationLimit = specializationLimit
    executor = FunctionExecutor(function ?? loaded.function)
    graphs = compiled.enumerated().map { GraphSpecializations(loaded, index: $0, $1, limit: specializationLimit) }
    let known = compiled.compactMap { $0 }
    let states = known.flatMap { model in model.graph.states.map { ($0.name, model.graph[$0.read].type) } }
    self.states = Dictionary(states) { first, _ in first }
    stateDevices = known.reduce(into: [:]) { devices, model in
      devices.merge(model.stateDevices) { first, _ in first }
    }
    // One for each core, and one more where another device works while the host prepares the next.
    usesOtherDevices = known.contains { model in model.placement.values.contains { $0 != model.host } }
    batchWidth = min(ExecutionContextPool.limit, max(loaded.options.request.threads, 1) + (usesOtherDevices ? 1 : 0))
  }

  /// The same compiled graphs, with other features or host steps around them.
  package func with(_ function: Function) -> Predictor { Predictor(self, function) }

  private init(_ other: Predictor, _ function: Function) {
    loaded = other.loaded
    outlivedBy = nil
    states = other.states
    stateDevices = other.stateDevices
    executor = FunctionExecutor(function)
    graphs = other.graphs
    batchWidth = other.batchWidth
    specializationLimit = other.specializationLimit
    usesOtherDevices = other.usesOtherDevices
  }

  /// What sizes besides the usual ones have cost.
  package var specializationCounts: SpecializationCounts {
    let others =
      padded.withLock { Array($0.values) } + overriding.values + [runningOnHost.withLock(\.self)].compactMap(\.self)
    return others.reduce(graphs.reduce(outlived.specializationCounts) { $0 + $1.specializationCounts }) { $0 + $1.specializationCounts }
  }

  /// The same model on inputs before whose rows others may lie that count for nothing; nil where it is not one graph of
  /// known sizes. Whether the graph can leave them out is known when it is built: predictions say so.
  ///
  /// - Parameter growing: by input, the axis along which it grows by a row a step.
  package func padded(_ growing: [String: Int]) -> Predictor? {
    padded.withLock { padded in
      if let known = padded[growing] { return known }
      let made = loaded.padded(growing).map { Predictor($0, [nil], specializationLimit: specializationLimit) }
      padded[growing] = made
      return made
    }
  }

  /// The same model with constants as inputs; nil where there are no values for any.
  private func overriding(
    _ values: DictionaryFeatureProvider, _ cancellation: Cancellation?
  ) throws(ModelError) -> Predictor? {
    let names = executor.binding.overridden(values)
    guard !names.isEmpty, let make = executor.binding.function.overriding else { return nil }
    return try ModelError.wrapping {
      try overriding.value(for: names, cancellation) {
        let model = loaded.overriding(names, try loaded.program.source.opened.vouching { try make(names) })
        return Predictor(
          model, model.graphs.map { _ in nil }, specializationLimit: specializationLimit, outlivedBy: outlived)
      }
    }
  }

  /// The same model with control flow walked.
  ///
  /// - Throws: what is wrong with the flow where it cannot be.
  private func runningOnHost(_ flow: DynamicShapeControlFlow) throws(ModelError) -> Predictor {
    try ModelError.wrapping {
      try runningOnHost.withLock { known in
        if let known { return known }
        let made = try loaded.program.source.opened.vouching { try executor.binding.function.runningOnHost(flow) }
        let model = loaded.runningOnHost(made)
        let predictor = Predictor(
          model, model.graphs.map { _ in nil }, specializationLimit: specializationLimit, outlivedBy: outlived)
        known = predictor
        return predictor
      }
    }
  }

  deinit { outlivedBy?.add(specializationCounts) }

  /// What predictors that are gone have cost.
  private final class Outlived: Sendable {
    private let counts = Mutex(SpecializationCounts())

    var specializationCounts: SpecializationCounts { counts.withLock(\.self) }
    func add(_ more: SpecializationCounts) { counts.withLock { $0 = $0 + more } }
  }

  /// The input of a padded model that says how many rows count for nothing.
  package static let paddingInput = PaddedSource.slot

  /// One prediction. Blocks the calling thread.
  ///
  /// What a device was lost, hung or had no memory for is done on the others that the units allow, and so is whatever
  /// comes later (`DeviceFallback`).
  ///
  /// - Throws: `featureType` naming an input that is missing, unknown or does not fit, or a backing that does not fit
  ///   its output; `device` where no other may do it; `predictionCancelled`; `io` where a file of the model changed since
  ///   it was loaded.
  package func predict(
    _ input: some FeatureProvider, _ backings: [String: OutputBacking], _ cancellation: Cancellation?
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try run(input, backings, cancellation).features
  }

  /// As `predict`, with the time that the graphs took.
  package func run(
    _ input: some FeatureProvider, _ backings: [String: OutputBacking] = [:], _ cancellation: Cancellation? = nil
  ) throws(ModelError) -> FunctionExecutor.Result {
    try checkStateless()
    let values = try executor.binding.values(input)
    if let other = try overriding(values, cancellation) { return try other.run(values, backings, cancellation) }
    if let other = runningOnHost.withLock(\.self) { return try other.run(values, backings, cancellation) }
    var shapeMismatch: DynamicShapeControlFlow?
    let result = try answering(cancellation) { cancellation -> FunctionExecutor.Result? in
      do {
        return try loaded.fallback.withFallback(size: try executor.binding.size(values)) { exclusions in
          try executor.run(values, backings: backings, cancellation) { graph, types in
            try graphs[graph].pool(types, exclusions, cancellation)
          }
        }
      } catch let flow as DynamicShapeControlFlow {
        shapeMismatch = flow
        return nil
      }
    }
    if let shapeMismatch { return try runningOnHost(shapeMismatch).run(values, backings, cancellation) }
    guard let result else { preconditionFailure("no result and no reason") }
    return result
  }

  /// Memory for the model's states, zeros.
  package func makeState() -> StateMemory { StateMemory(model: loaded.context.key.description) }

  /// One prediction that reads and leaves states. Blocks the calling thread.
  ///
  /// A state that no prediction has left anything in begins anew where a device fails. Any other is lost with the
  /// device, since nobody knows what is left in it.
  ///
  /// - Throws: as `predict`; `parameters` for the state of another model, or one that another prediction is using.
  package func predict(
    _ input: some FeatureProvider, using state: StateMemory, _ backings: [String: OutputBacking],
    _ cancellation: Cancellation?
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try run(input, using: state, backings, cancellation).features
  }

  /// As `predict(_:using:_:_:)`, with the time that the graphs took.
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
          try executor.run(values, backings: backings, cancellation) { graph, types in
            StateSessions(model: try graphs[graph].pool(types, exclusions, cancellation).model, states: state)
          }
        }
      }
    }
  }

  /// One prediction within what the model's options allow it, unless it was computed from files that are no longer what
  /// was loaded.
  ///
  /// - Parameters:
  ///   - repeats: whether it may be made again.
  ///   - discarding: called where it was made and does not count.
  ///   - predict: given what wakes it where a limit is reached or its caller cancels.
  /// - Throws: `io` where they are not, whatever else went wrong.
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

  /// - Throws: `parameters` where the model has states and none is given.
  private func checkStateless() throws(ModelError) {
    guard let name = states.keys.min() else { return }
    throw ModelError(
      .parameters,
      "the model has the state '\(name)': make one with makeState() and predict with prediction(from:using:)")
  }

  /// Predictions for every item of a batch, several at a time, in the batch's order. Blocks the calling thread.
  ///
  /// - Throws: `ModelError` of the first item that fails, which it names; items after it may be left out.
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
    // Helpers that find no thread in time find no work either: nobody waits for one that has not begun.
    for _ in 1..<max(1, min(batchWidth, count)) { BlockingWork.start { run.work() } }
    run.work()
    return ArrayBatchProvider(array: try run.outputs())
  }
}
