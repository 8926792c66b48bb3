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

extension WeightForm {
  /// Returns the bytes of the parts of a weight in a form of iOS 16: indices and a table, or integers, scales and zero
  /// points. Nil for other forms, and for one that the weight keeps its own instead of.
  ///
  /// - Parameters:
  ///   - shape: The shape of the weight.
  ///   - elementSize: The bytes of a number of tables and scales.
  fileprivate func partByteCounts(_ shape: [Int], elementSize: Int) -> [Int]? {
    guard Self.smaller.contains(self) else { return nil }
    let count = shape.reduce(1, *)
    switch numbers {
    case .original, .float16: return nil
    case .palette(let palette): return [(count * palette.bits + 7) / 8, elementSize << palette.bits]
    case .integers:
      guard let channels = shape.first, channels > 0, count % channels == 0 else { return nil }
      return [count, channels * elementSize, channels]
    }
  }
}
