public import KelvinFeatures

/// The options of a prediction.
public struct PredictionOptions: Sendable {
  /// The destinations of outputs, by name.
  ///
  /// An array must have the output's element type and shape, an image the output's size. Names that the model does not
  /// have are ignored. The prediction's outputs then refer to the backings. Two concurrent predictions must not share a
  /// backing, and batches do not use backings.
  ///
  /// A dense array is written in place, without a copy, from its second prediction on, if the device that computes the
  /// output writes host memory. A model keeps the latest few such arrays.
  public var outputBackings: [String: OutputBacking] = [:]

  /// Creates options. By default the library allocates memory for outputs.
  public init(outputBackings: [String: OutputBacking] = [:]) { self.outputBackings = outputBackings }
}
