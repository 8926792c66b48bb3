/// Combines token vectors to a text vector.
enum TokenPooling {
  /// Returns the mean of the first `count` vectors.
  ///
  /// - Precondition: `count` is above 0, and there are at least `count` vectors of `width` elements each.
  static func pooled(_ vectors: [Float], width: Int, count: Int) -> [Float] {
    var sums = [Double](repeating: 0, count: width)
    for token in 0..<count {
      for index in 0..<width { sums[index] += Double(vectors[token * width + index]) }
    }
    return sums.map { Float($0 / Double(count)) }
  }

  /// Returns the vector scaled to length 1, unless it is close to zero.
  static func normalized(_ vector: [Float]) -> [Float] {
    let length = vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
    return length > 1e-12 ? vector.map { Float(Double($0) / length) } : vector
  }
}
