package import KelvinFeatures
package import KelvinGraph
package import KelvinRuntime

/// A loaded model that predicts: feature values in, feature values out, from any number of threads at once.
package final class Predictor: Sendable {
  package let loaded: LoadedModel
  private let binding: FeatureBinding
  /// For the model's usual sizes.
  private let standard: SessionPool
  private let specializations: SpecializationCache<[String: Shape], SessionPool>

  /// - Parameters:
  ///   - compiled: the model's compiled form for its usual sizes.
  ///   - specializationLimit: compiled forms kept besides it.
  package init(_ loaded: LoadedModel, _ compiled: CompiledModel, specializationLimit: Int) {
    self.loaded = loaded
    binding = FeatureBinding(function: loaded.function)
    standard = SessionPool(compiled)
    specializations = SpecializationCache(limit: specializationLimit)
  }

  /// One prediction. Blocks the calling thread.
  ///
  /// - Throws: `featureType` naming an input that is missing, unknown or does not fit, or a backing that does not fit
  ///   its output; `device`; `predictionCancelled`.
  package func predict(
    _ input: some FeatureProvider, _ backings: [String: OutputBacking], _ cancellation: Cancellation?
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try checkStateless()
    let values = try binding.values(input)
    let shapes = try binding.shapes(values)
    return try ModelError.wrapping {
      let pool = try pool(for: shapes, cancellation)
      let backings = try OutputBackings(backings, binding, pool.model.graph)
      return try pool.withSession(backings.memory, cancellation) { session in
        try binding.write(values, to: session)
        try session.run(cancellation)
        return try binding.read(session, backings: backings)
      }
    }
  }

  /// The states of the model, by name.
  package var states: [String: TensorType] {
    let graph = standard.model.graph
    return Dictionary(uniqueKeysWithValues: graph.states.map { ($0.name, graph[$0.read].type) })
  }

  /// Memory for the model's states, zeros.
  package func makeState() -> StateMemory { StateMemory(model: loaded.context.key.description) }

  /// One prediction that reads and leaves states. Blocks the calling thread.
  ///
  /// - Throws: as `predict`; `parameters` for the state of another model, or one that another prediction is using.
  package func predict(
    _ input: some FeatureProvider, using state: StateMemory, _ cancellation: Cancellation?
  ) throws(ModelError) -> DictionaryFeatureProvider {
    guard state.model == loaded.context.key.description else {
      throw ModelError(.parameters, "the state was made by another model; make one with this model's makeState()")
    }
    let values = try binding.values(input)
    let shapes = try binding.shapes(values)
    return try ModelError.wrapping {
      let model = try pool(for: shapes, cancellation).model
      return try state.borrowing {
        let session = try state.session(of: model)
        try binding.write(values, to: session)
        try session.run(cancellation)
        return try binding.read(session)
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

  /// The compiled form for these sizes, made at their first use and kept for the latest few.
  private func pool(for shapes: [String: Shape], _ cancellation: Cancellation?) throws -> SessionPool {
    let graph = standard.model.graph
    let isStandard = shapes.allSatisfy { name, shape in
      graph.inputs.contains { graph[$0].name == name && graph[$0].type.shape == shape }
    }
    if isStandard { return standard }
    return try specializations.value(for: shapes, cancellation) {
      let specialized = try loaded.with(shapes: shapes)
      let observer = CompiledModel.Observer(isCancelled: { cancellation?.isCancelled ?? false })
      return SessionPool(try specialized.compile(specialized.explain(), observer: observer))
    }
  }

  /// How many predictions of a batch are made at a time: one for each core, and one more where another device works
  /// while the host prepares the next.
  private var batchWidth: Int {
    let usesOthers = Set(standard.model.placement.values).contains { $0 != standard.model.host }
    return min(SessionPool.limit, max(loaded.options.request.threads, 1) + (usesOthers ? 1 : 0))
  }
}
