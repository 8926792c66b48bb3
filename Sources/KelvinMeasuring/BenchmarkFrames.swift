public import KelvinFeatures

/// The frames of a video or a camera, for a benchmark of a stream with real content.
///
/// All configurations of a benchmark take their frames from one source, in turns.
public protocol BenchmarkFrames: Sendable {
  /// The name of the source, for the notes of the result.
  var name: String { get }

  /// Returns the features of the next frame. A source that ends begins anew.
  ///
  /// - Parameter count: The number of frames that are passed over first, because a stream dropped them.
  /// - Returns: A value for each input of the model.
  /// - Throws: If there is no further frame. The configuration then fails, and the benchmark if all fail.
  func next(passingOver count: Int) throws -> any FeatureProvider
}
