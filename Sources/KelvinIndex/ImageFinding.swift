/// The data about an image that an index stores.
package struct ImageFinding: Sendable {
  package var width: Int
  package var height: Int
  /// The perceptual hash.
  package var hash: UInt64
  /// The labels, the most confident first.
  package var labels: [(label: String, confidence: Float)]
  /// A vector of length 1 as little-endian float32.
  package var vector: [UInt8]?

  /// Selects the data to store.
  ///
  /// - Parameters:
  ///   - labels: Every class, the most confident first. Only some of them are stored.
  ///   - embedding: A vector of any length above 0; a vector that is not finite is left out.
  package init(
    width: Int, height: Int, hash: UInt64, labels: some Sequence<(label: String, confidence: Float)>,
    embedding: [Float]?
  ) {
    (self.width, self.height, self.hash) = (width, height, hash)
    self.labels = Self.kept(labels)
    vector = embedding.flatMap(UnitVector.bytes)
  }

  /// The five most confident labels of an image are always stored. Up to 100 are stored where their confidence is at
  /// least 0.01.
  private static let fewestLabels = 5
  private static let mostLabels = 100
  private static let leastConfidence: Float = 0.01

  /// Returns the labels to store.
  ///
  /// - Parameter labels: Every class, the most confident first.
  static func kept(
    _ labels: some Sequence<(label: String, confidence: Float)>
  ) -> [(label: String, confidence: Float)] {
    labels.prefix(mostLabels).enumerated().filter { rank, seen in
      seen.confidence.isFinite && (rank < fewestLabels || seen.confidence >= leastConfidence)
    }.map(\.element)
  }
}
