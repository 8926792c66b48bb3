package import KelvinFeatures

/// The features with which images are compared.
package enum Similarity: Sendable {
  /// A vector of the model; scores are cosine similarities.
  case vector([Float])
  /// Class probabilities; scores are Bhattacharyya coefficients over the stored labels of both images. The stored
  /// probabilities p and q are normalized: Σ √(p · q) / √(Σ p · Σ q).
  case labels([(label: String, confidence: Float)])
}

extension IndexReader {
  /// Returns the features of an image of the index, by its content; nil where the index does not contain it.
  ///
  /// - Parameter content: The SHA-256 digest of the file.
  package func similarity(ofContent content: [UInt8]) throws(PhotoIndexError) -> Similarity? {
    let rows = try database.prepare("SELECT id FROM pictures WHERE content = ? AND error IS NULL")
    try rows.bind([.blob(content)])
    guard try rows.step() else { return nil }
    let id = rows.integer(0)
    if facts.dimensions > 0 {
      let vectors = try database.prepare("SELECT vector FROM embeddings WHERE picture = ?")
      try vectors.bind([.integer(id)])
      guard try vectors.step() else { return nil }
      let count = vectors.withBytes(0) { $0.count }
      guard count == 4 * facts.dimensions else {
        throw database.damaged("a vector has \(count) bytes, not \(4 * facts.dimensions)")
      }
      return vectors.withBytes(0) { bytes in
        .vector(
          stride(from: 0, to: bytes.count, by: 4).map {
            Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)))
          })
      }
    }
    let observations = try database.prepare(
      "SELECT name, confidence FROM observations JOIN labels ON labels.id = label WHERE picture = ? ORDER BY rank")
    try observations.bind([.integer(id)])
    var labels: [(label: String, confidence: Float)] = []
    while try observations.step() { labels.append((try observations.name(0), try observations.score(1))) }
    return .labels(labels)
  }

  /// Returns the similarity of each image, among those found or all.
  func scores(
    _ similarity: Similarity, among found: [Int64: LabelHit]?
  ) throws(PhotoIndexError) -> [(image: Int64, score: Float)] {
    let scores: [(image: Int64, score: Float)]
    switch similarity {
    case .vector(let vector): scores = try cosines(vector)
    case .labels(let labels): scores = try coefficients(labels)
    }
    return found.map { found in scores.filter { found[$0.image] != nil } } ?? scores
  }

  private func cosines(_ vector: [Float]) throws(PhotoIndexError) -> [(image: Int64, score: Float)] {
    guard facts.dimensions > 0, vector.count == facts.dimensions, let unit = UnitVector.bytes(vector) else {
      throw PhotoIndexError(
        .notIndexed,
        "a vector of \(vector.count) numbers cannot be compared with the \(facts.dimensions) of '\(file.path)'")
    }
    var scores: [(image: Int64, score: Float)] = []
    let rows = try database.prepare("SELECT picture, vector FROM embeddings")
    try unit.withUnsafeBufferPointer { (unit) throws(PhotoIndexError) in
      guard let wanted = UnsafeRawPointer(unit.baseAddress) else { return }
      while try rows.step() {
        let score: Float? = rows.withBytes(1) { bytes in
          guard bytes.count == unit.count, let start = bytes.baseAddress else { return nil }
          return UnitVector.product(start, wanted, count: vector.count)
        }
        if let score, score.isFinite { scores.append((rows.integer(0), score)) }
      }
    }
    return scores
  }

  private func coefficients(
    _ labels: [(label: String, confidence: Float)]
  ) throws(PhotoIndexError) -> [(image: Int64, score: Float)] {
    let kept = ImageFinding.kept(labels).filter { $0.confidence > 0 }
    var sums: [Int64: Float] = [:]
    let rows = try database.prepare(
      """
      SELECT picture, confidence FROM observations
      WHERE label = (SELECT id FROM labels WHERE name = ?) AND confidence > 0
      """)
    for (label, confidence) in kept {
      try rows.bind([.text(label)])
      while try rows.step() { sums[rows.integer(0), default: 0] += (confidence * (try rows.score(1))).squareRoot() }
    }
    let wanted = kept.reduce(0) { $0 + $1.confidence }
    let mass = try database.prepare("SELECT sum(confidence) FROM observations WHERE picture = ?")
    var scores: [(image: Int64, score: Float)] = []
    for (image, sum) in sums {
      try mass.bind([.integer(image)])
      guard try mass.step() else { continue }
      let score = min(sum / (wanted * (try mass.score(0))).squareRoot(), 1)
      guard score.isFinite else { throw database.damaged("the confidences of an image have the sum \(mass.real(0))") }
      scores.append((image, score))
    }
    return scores
  }
}
