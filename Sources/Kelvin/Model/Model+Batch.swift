import KelvinEngine
public import KelvinFeatures

extension Model {
  /// Predicts for every item of a batch, several items at a time. Results are in the batch's order. Blocks the calling
  /// thread.
  ///
  /// - Throws: `ModelError` of the first item that fails, which the error names. Later items may not be run.
  public func predictions(fromBatch batch: some BatchProvider) throws(ModelError) -> ArrayBatchProvider {
    try predictor.predict(batch: batch, nil)
  }

  /// Predicts for every item of a batch, several items at a time. Results are in the batch's order. Blocks the calling
  /// thread.
  ///
  /// - Parameters:
  ///   - batch: the inputs of each prediction.
  ///   - options: how predictions are made; output backings do not apply to batches.
  /// - Throws: `ModelError` of the first item that fails, which the error names. Later items may not be run.
  public func predictions(
    from batch: some BatchProvider, options: PredictionOptions
  ) throws(ModelError) -> ArrayBatchProvider {
    try predictor.predict(batch: batch, nil)
  }

  /// Predicts for every item of a batch without blocking the calling task's thread. Cancelling the task ends the
  /// predictions.
  ///
  /// - Throws: `ModelError` of the first item that fails, which the error names; `predictionCancelled` if the task was
  ///   cancelled.
  public func predictions(fromBatch batch: some BatchProvider) async throws(ModelError) -> ArrayBatchProvider {
    try await predictions(from: batch, options: PredictionOptions())
  }

  /// Predicts for every item of a batch without blocking the calling task's thread. Cancelling the task ends the
  /// predictions.
  ///
  /// - Parameters:
  ///   - batch: the inputs of each prediction.
  ///   - options: how predictions are made; output backings do not apply to batches.
  /// - Throws: `ModelError` of the first item that fails, which the error names; `predictionCancelled` if the task was
  ///   cancelled.
  public func predictions(
    from batch: some BatchProvider, options: PredictionOptions
  ) async throws(ModelError) -> ArrayBatchProvider {
    try await BlockingWork.run { (cancellation) throws(ModelError) -> ArrayBatchProvider in
      try self.predictor.predict(batch: batch, cancellation)
    }
  }
}
