extension WeightForm {
  /// Returns the bytes of the parts of a weight in this form: indices and a table, or integers, scales and zero points.
  /// Nil for a form that the weight keeps its own instead of.
  ///
  /// - Parameters:
  ///   - shape: The shape of the weight.
  ///   - elementSize: The bytes of a number of tables and scales.
  func partByteCounts(_ shape: [Int], elementSize: Int) -> [Int]? {
    let count = shape.reduce(1, *)
    switch self {
    case .original: return nil
    case .palette(let bits): return [(count * bits + 7) / 8, elementSize << bits]
    case .int8:
      guard let channels = shape.first, channels > 0, count % channels == 0 else { return nil }
      return [count, channels * elementSize, channels]
    }
  }
}

extension ModelCompressor {
  /// Returns the bytes of a copy with all weights in one form, computed from the shapes of the weights. The program
  /// itself grows by less than 200 bytes for each weight, which are not counted.
  func estimatedByteCount(_ form: WeightForm) -> Int {
    weights.reduce(byteCount) { sum, weight in
      let elementSize = weight.byteCount / max(weight.count, 1)
      guard let parts = form.partByteCounts(weight.shape, elementSize: elementSize) else { return sum }
      return sum - WeightFile.byteCount(of: weight.byteCount) + parts.reduce(0) { $0 + WeightFile.byteCount(of: $1) }
    }
  }
}
