import KelvinRuntime
import Synchronization

extension Model {
  /// Predictions for every item of a batch, several at a time, in the batch's order. Blocks the calling thread.
  ///
  /// - Throws: `ModelError` of the first item that fails, which it names; items after it may be left out.
  public func predictions(fromBatch batch: some BatchProvider) throws(ModelError) -> ArrayBatchProvider {
    try predict(batch, nil)
  }

  /// Predictions for every item of a batch, several at a time, in the batch's order. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - batch: the inputs of each prediction.
  ///   - options: how predictions are made; output backings do not apply to batches.
  /// - Throws: `ModelError` of the first item that fails, which it names; items after it may be left out.
  public func predictions(
    from batch: some BatchProvider, options: PredictionOptions
  ) throws(ModelError) -> ArrayBatchProvider {
    try predict(batch, nil)
  }

  /// Predictions for every item of a batch, without blocking the calling task's thread. Cancelling the task ends them.
  ///
  /// - Throws: `ModelError` of the first item that fails, which it names; `predictionCancelled` where the task was
  ///   cancelled.
  public func predictions(fromBatch batch: some BatchProvider) async throws(ModelError) -> ArrayBatchProvider {
    try await predictions(from: batch, options: PredictionOptions())
  }

  /// Predictions for every item of a batch, without blocking the calling task's thread. Cancelling the task ends them.
  ///
  /// - Parameters:
  ///   - batch: the inputs of each prediction.
  ///   - options: how predictions are made; output backings do not apply to batches.
  /// - Throws: `ModelError` of the first item that fails, which it names; `predictionCancelled` where the task was
  ///   cancelled.
  public func predictions(
    from batch: some BatchProvider, options: PredictionOptions
  ) async throws(ModelError) -> ArrayBatchProvider {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> ArrayBatchProvider in
      try self.predict(batch, cancellation)
    }
  }

  private func predict(
    _ batch: some BatchProvider, _ cancellation: Cancellation?
  ) throws(ModelError) -> ArrayBatchProvider {
    let count = batch.count
    let run = BatchRun(count: count) { (index) throws(ModelError) in
      func predict(_ item: some FeatureProvider) throws(ModelError) -> DictionaryFeatureProvider {
        try self.predict(item, PredictionOptions(), cancellation)
      }
      return try predict(batch.features(at: index))
    }
    // Helpers that find no thread in time find no work either: nobody waits for one that has not begun.
    for _ in 1..<max(1, min(batchWidth, count)) { BlockingWork.start { run.work() } }
    run.work()
    return ArrayBatchProvider(array: try run.outputs())
  }
}

/// The items of a batch, claimed in order by whoever has time.
private final class BatchRun: Sendable {
  private struct State {
    var next = 0
    var running = 0
    var outputs: [DictionaryFeatureProvider?]
    var failure: (index: Int, error: ModelError)?
  }

  private let predict: @Sendable (Int) throws(ModelError) -> DictionaryFeatureProvider
  private let state: Monitor<State>

  init(count: Int, predict: @escaping @Sendable (Int) throws(ModelError) -> DictionaryFeatureProvider) {
    self.predict = predict
    state = Monitor(State(outputs: Array(repeating: nil, count: count)))
  }

  /// Predicts items until none is left or one has failed.
  func work() {
    while let index = claim() {
      let result = Result { () throws(ModelError) in try predict(index) }
      state.withLock { state in
        state.running -= 1
        switch result {
        case .success(let output): state.outputs[index] = output
        // Items are claimed in order, so that the first of the failures is the same on every run.
        case .failure(let error):
          if index < state.failure?.index ?? .max { state.failure = (index, error) }
        }
      }
    }
  }

  private func claim() -> Int? {
    state.withLock { state in
      guard state.failure == nil, state.next < state.outputs.count else { return nil }
      state.next += 1
      state.running += 1
      return state.next - 1
    }
  }

  /// Waits for the items at work.
  func outputs() throws(ModelError) -> [DictionaryFeatureProvider] {
    let end = try ModelError.wrapping { try state.wait { $0.running == 0 ? $0 : nil } }
    if let (index, error) = end.failure {
      throw ModelError(error.code, error.code == .predictionCancelled ? error.description : "item \(index): \(error)")
    }
    return end.outputs.compactMap { $0 }
  }
}
