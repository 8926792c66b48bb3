import Kelvin

extension MLModel {
  /// Makes one prediction. Blocks the calling thread.
  ///
  /// - Throws: `MLModelError`: `featureType` for an input that is missing, unknown or does not fit, or a backing that
  ///   does not fit; `generic` if a device failed.
  public func prediction(from input: any MLFeatureProvider) throws -> any MLFeatureProvider {
    try prediction(from: input, options: MLPredictionOptions())
  }

  /// Makes one prediction. Blocks the calling thread.
  ///
  /// - Throws: as `prediction(from:)`.
  public func prediction(
    from input: any MLFeatureProvider, options: MLPredictionOptions
  ) throws -> any MLFeatureProvider {
    let (values, settings) = (input.kelvin, try options.kelvin)
    let outputs = try MLModelError.wrapping { () throws(ModelError) in
      try kelvin.prediction(from: values, options: settings)
    }
    return MLDictionaryFeatureProvider(outputs, replacing: options.values)
  }

  /// Makes one prediction without blocking a thread. Cancelling the task ends it.
  ///
  /// - Throws: as the blocking method; `predictionCancelled` if the task was cancelled.
  public func prediction(
    from input: any MLFeatureProvider, options: MLPredictionOptions = MLPredictionOptions()
  ) async throws -> any MLFeatureProvider {
    let (values, settings) = (input.kelvin, try options.kelvin)
    do throws(ModelError) {
      let outputs = try await kelvin.prediction(from: values, options: settings)
      return MLDictionaryFeatureProvider(outputs, replacing: options.values)
    } catch { throw MLModelError(error) }
  }

  /// Predicts for every item of a batch. Blocks the calling thread.
  ///
  /// - Throws: `MLModelError` of the first item that fails, which the error names.
  public func predictions(fromBatch inputBatch: any MLBatchProvider) throws -> any MLBatchProvider {
    try predictions(from: inputBatch, options: MLPredictionOptions())
  }

  /// Predicts for every item of a batch. Output backings do not apply. Blocks the calling thread.
  ///
  /// - Throws: `MLModelError` of the first item that fails, which the error names.
  public func predictions(
    from inputBatch: any MLBatchProvider, options: MLPredictionOptions
  ) throws -> any MLBatchProvider {
    let batch = inputBatch.kelvin
    return MLArrayBatchProvider(
      try MLModelError.wrapping { () throws(ModelError) in try kelvin.predictions(fromBatch: batch) })
  }

  /// Makes a zeroed state for predictions of this model.
  public func makeState() -> MLState { MLState(kelvin.makeState()) }

  /// Makes one prediction that reads and updates a state. Blocks the calling thread.
  ///
  /// - Throws: as `prediction(from:)`; `parameters` for the state of another model or a state in use.
  public func prediction(from input: any MLFeatureProvider, using state: MLState) throws -> any MLFeatureProvider {
    try prediction(from: input, using: state, options: MLPredictionOptions())
  }

  /// Makes one prediction that reads and updates a state. Blocks the calling thread.
  ///
  /// - Throws: as `prediction(from:using:)`.
  public func prediction(
    from input: any MLFeatureProvider, using state: MLState, options: MLPredictionOptions
  ) throws -> any MLFeatureProvider {
    let (values, settings) = (input.kelvin, try options.kelvin)
    let outputs = try MLModelError.wrapping { () throws(ModelError) in
      try kelvin.prediction(from: values, using: state.kelvin, options: settings)
    }
    return MLDictionaryFeatureProvider(outputs, replacing: options.values)
  }

  /// Makes one prediction that reads and updates a state, without blocking a thread.
  ///
  /// - Throws: as the blocking method; `predictionCancelled` if the task was cancelled.
  public func prediction(
    from input: any MLFeatureProvider, using state: MLState, options: MLPredictionOptions = MLPredictionOptions()
  ) async throws -> any MLFeatureProvider {
    let (values, settings) = (input.kelvin, try options.kelvin)
    do throws(ModelError) {
      let outputs = try await kelvin.prediction(from: values, using: state.kelvin, options: settings)
      return MLDictionaryFeatureProvider(outputs, replacing: options.values)
    } catch { throw MLModelError(error) }
  }
}

extension MLState {
  /// Calls `body` with the contents of one state, which the next prediction reads as `body` leaves it.
  ///
  /// - Precondition: the model has a state of this name, and no prediction uses the states.
  public func withMultiArray<R, Failure: Error>(
    for stateName: String, _ body: (MLMultiArray) throws(Failure) -> R
  ) throws(Failure) -> R {
    var result: Result<R, Failure>?
    do {
      try kelvin.withMultiArray(for: stateName) { array in
        let shared = MLMultiArray(array)
        result = Result { () throws(Failure) in try body(shared) }
      }
    } catch { preconditionFailure("\(error)") }
    guard let result else { preconditionFailure("the state '\(stateName)' was not read") }
    return try result.get()
  }
}
