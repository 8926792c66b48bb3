import KelvinFeatures
import KelvinRuntime

/// The items of a batch, which several threads claim in order.
final class BatchRun: Sendable {
  private struct State {
    var next = 0
    var running = 0
    var outputs: [DictionaryFeatureProvider?]
    var failure: (index: Int, error: ModelError)?
  }

  private let predict: @Sendable (Int) throws(ModelError) -> DictionaryFeatureProvider
  private let state: ConditionLock<State>

  init(count: Int, predict: @escaping @Sendable (Int) throws(ModelError) -> DictionaryFeatureProvider) {
    self.predict = predict
    state = ConditionLock(State(outputs: Array(repeating: nil, count: count)))
  }

  /// Predicts items until none is left or an item has failed.
  func work() {
    while let index = claim() {
      let result = Result { () throws(ModelError) in try predict(index) }
      state.withLock { state in
        state.running -= 1
        switch result {
        case .success(let output): state.outputs[index] = output
        // Items are claimed in order, so every run reports the same first failure.
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

  /// Waits for the items in progress and returns the outputs.
  func outputs() throws(ModelError) -> [DictionaryFeatureProvider] {
    let end = try ModelError.wrapping { try state.wait { $0.running == 0 ? $0 : nil } }
    if let (index, error) = end.failure {
      throw ModelError(error.code, error.code == .predictionCancelled ? error.description : "item \(index): \(error)")
    }
    return end.outputs.compactMap { $0 }
  }
}
