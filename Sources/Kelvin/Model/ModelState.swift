import KelvinEngine
public import KelvinFeatures
import KelvinGraph
package import KelvinRuntime

/// The state of a stateful model between predictions, such as the KV cache of a decoder, for one sequence.
///
/// A new state contains zeros. Each prediction with it reads the values that the previous one wrote. A state belongs to
/// one model and serves one prediction at a time. Concurrent sequences need a state each.
///
/// ```swift
/// let state = model.makeState()
/// for token in prompt { output = try model.prediction(from: input(token), using: state) }
/// ```
public final class ModelState: Sendable {
  package let memory: StateMemory
  private let types: [String: TensorType]

  init(_ memory: StateMemory, _ types: [String: TensorType]) {
    self.memory = memory
    self.types = types
  }

  /// The names of the model's states.
  public var names: [String] { types.keys.sorted() }

  /// Calls `body` with the contents of one state. The next prediction reads the array as `body` leaves it.
  ///
  /// - Throws: `ModelError` with code `parameters` for a name that the model does not have, for another shape or type,
  ///   and while a prediction uses the state; errors of `body`.
  public func withMultiArray<Result>(
    for name: String, _ body: (inout MultiArray) throws -> Result
  ) throws -> Result {
    guard let type = types[name] else {
      throw ModelError(.parameters, "the model has no state '\(name)'; it has \(names.joined(separator: ", "))")
    }
    do {
      return try memory.borrowing {
        let held = try memory.read(name).map { Tensor(type, $0) }
        var array = MultiArray(held ?? Tensor(type, rounding: Array(repeating: 0, count: type.count)))
        let result = try body(&array)
        guard array.tensor.type == type else {
          throw ModelError(.parameters, "state '\(name)': expected \(type), got \(array.tensor.type)")
        }
        try memory.write(name, array.tensor.bytes)
        return result
      }
    } catch let error as RuntimeError { throw ModelError(error) }
  }
}

extension Model {
  /// Makes a zeroed state for predictions of this model. For a model without states it is empty.
  public func makeState() -> ModelState { ModelState(predictor.makeState(), predictor.states) }

  /// Makes one prediction that reads and updates a state. Blocks the calling thread.
  ///
  /// - Throws: `ModelError` as `prediction(from:options:)` does; `parameters` for the state of another model and for a
  ///   state that another prediction is using.
  public func prediction(
    from input: some FeatureProvider, using state: ModelState, options: PredictionOptions = PredictionOptions()
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try predictor.predict(input, using: state.memory, options.outputBackings, nil)
  }

  /// Makes one prediction with a state, without blocking the calling task's thread.
  ///
  /// - Throws: `ModelError` as the blocking method does; `predictionCancelled` if the task was cancelled. The state
  ///   must then not be used for the same sequence again.
  public func prediction(
    from input: some FeatureProvider, using state: ModelState, options: PredictionOptions = PredictionOptions()
  ) async throws(ModelError) -> DictionaryFeatureProvider {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> DictionaryFeatureProvider in
      try self.predictor.predict(input, using: state.memory, options.outputBackings, cancellation)
    }
  }
}
