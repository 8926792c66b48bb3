/// Arithmetic from the vectors of tokens to that of a text.
enum TokenPooling {
  /// The mean of the first vectors.
  ///
  /// - Precondition: there are at least `count`, which is not 0, of so many elements each.
  static func pooled(_ vectors: [Float], width: Int, count: Int) -> [Float] {
    var sums = [Double](repeating: 0, count: width)
    for token in 0..<count {
      for place in 0..<width { sums[place] += Double(vectors[token * width + place]) }
    }
    return sums.map { Float($0 / Double(count)) }
  }

  /// The vector with length 1, unless it is as good as zero.
  static func normalized(_ vector: [Float]) -> [Float] {
    let length = vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
    return length > 1e-12 ? vector.map { Float(Double($0) / length) } : vector
  }
}
