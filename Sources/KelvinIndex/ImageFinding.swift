/// What is to be kept of an image.
package struct ImageFinding: Sendable {
  package var width: Int
  package var height: Int
  /// The perceptual hash.
  package var hash: UInt64
  /// The surest first.
  package var labels: [(label: String, confidence: Float)]
  /// A vector of length 1 as little-endian float32.
  package var vector: [UInt8]?

  /// - Parameters:
  ///   - labels: every class, the surest first; of most only the sure ones are kept.
  ///   - embedding: a vector of any length above 0; one that is not finite is left out.
  package init(
    width: Int, height: Int, hash: UInt64, labels: some Sequence<(label: String, confidence: Float)>,
    embedding: [Float]?
  ) {
    (self.width, self.height, self.hash) = (width, height, hash)
    self.labels = Self.kept(labels)
    vector = embedding.flatMap(UnitVector.bytes)
  }

  /// An image's five surest labels are kept, and all others of some probability, up to a hundred.
  private static let fewestLabels = 5
  private static let mostLabels = 100
  private static let leastConfidence: Float = 0.01

  /// What is kept of all classes.
  ///
  /// - Parameter labels: the surest first.
  static func kept(
    _ labels: some Sequence<(label: String, confidence: Float)>
  ) -> [(label: String, confidence: Float)] {
    labels.prefix(mostLabels).enumerated().filter { rank, seen in
      seen.confidence.isFinite && (rank < fewestLabels || seen.confidence >= leastConfidence)
    }.map(\.element)
  }
}
