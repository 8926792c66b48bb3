public import KelvinFeatures

/// How a prediction is made.
public struct PredictionOptions: Sendable {
  /// Where outputs are written, by name.
  ///
  /// An array has the output's element type and shape, an image the output's size; names that the model does not have
  /// are ignored. The prediction's outputs then refer to what was given here. An array that is dense is written in
  /// place, without a copy, from its second prediction on, where the device that computes the output writes host
  /// memory; a model keeps the latest few such arrays. Batches do not use backings. Two predictions at one time must
  /// not share one.
  public var outputBackings: [String: OutputBacking] = [:]

  /// Options; by default outputs lie in memory of their own.
  public init(outputBackings: [String: OutputBacking] = [:]) { self.outputBackings = outputBackings }
}
