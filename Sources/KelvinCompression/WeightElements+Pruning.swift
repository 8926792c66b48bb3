extension WeightElements {
  /// Returns the weight without its smallest elements; nil if the second axis does not divide into the pattern.
  func pruned(_ pruning: WeightForm.Pruning, _ form: WeightForm.Numbers) -> CompressedWeight? {
    guard let mask = mask(pruning) else { return nil }
    let kept = values.indices.filter { mask[$0] }
    let numbers = kept.map { values[$0] }
    guard !numbers.isEmpty else { return nil }
    let sparse: CompressedWeight.SparseNumbers
    switch form {
    case .original, .float16: sparse = .plain(numbers)
    case .palette(let palette):
      var elements = WeightElements(numbers, [numbers.count], isHalf: isHalf)
      elements.importance = importance.map { importance in kept.map { importance[$0] } }
      guard let code = elements.palettes(WeightForm.Palette(bits: 0), bits: [palette.bits]).first else { return nil }
      sparse = .palette(indices: code.indices, table: code.tables)
    case .integers(let integers):
      sparse = .integers(integerCode(kept, channels: kept.map { $0 / channelSize }, bits: integers.bits))
    }
    let code = CompressedWeight.Code.sparse(mask: mask, sparse)
    return compressed(code, decoded(code))
  }

  /// Returns some of the elements as integers, with a scale for each position along the first axis.
  private func integerCode(_ kept: [Int], channels: [Int], bits: Int) -> IntegerCode {
    var code = IntegerCode(bits: bits, values: [], scales: [])
    var start = 0
    for channel in 0..<channelCount {
      var end = start
      while end < kept.count, channels[end] == channel { end += 1 }
      let places = kept[start..<end]
      code.scales.append(
        integers(
          places.map { values[$0] }[...], weights: importance.map { importance in places.map { importance[$0] }[...] },
          bits: bits, &code.values))
      start = end
    }
    return code
  }

  /// Returns whether each element is kept.
  private func mask(_ pruning: WeightForm.Pruning) -> [Bool]? {
    switch pruning {
    case .smallest(let percent):
      let count = values.count * percent / 100
      var mask = [Bool](repeating: true, count: values.count)
      for place in values.indices.sorted(by: { abs(values[$0]) < abs(values[$1]) }).prefix(count) {
        mask[place] = false
      }
      return mask
    case .pattern(let kept, let count):
      guard inputCount % count == 0 else { return nil }
      let inner = channelSize / inputCount
      var mask = [Bool](repeating: false, count: values.count)
      for channel in 0..<channelCount {
        for first in stride(from: 0, to: inputCount, by: count) {
          for offset in 0..<inner {
            let places = (0..<count).map { (channel * inputCount + first + $0) * inner + offset }
            for place in places.sorted(by: { abs(values[$0]) > abs(values[$1]) }).prefix(kept) { mask[place] = true }
          }
        }
      }
      return mask
    }
  }
}
