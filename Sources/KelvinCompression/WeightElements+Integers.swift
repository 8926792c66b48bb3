extension WeightElements {
  /// The size of the second axis; 1 for tensors without one.
  var inputCount: Int { shape.count > 1 ? max(shape[1], 1) : 1 }

  /// Returns the weight as integers. Blocks have the largest size up to the form's that divides the second axis; nil if
  /// that is 1.
  func integerCode(_ form: WeightForm.Integers) -> IntegerCode? {
    let block = form.blockSize.map { Self.divisor(of: inputCount, upTo: $0) } ?? inputCount
    guard block > 1 || inputCount == 1 else { return nil }
    let blocks = inputCount / block
    let run = channelSize / blocks
    var code = IntegerCode(bits: form.bits, values: [], scales: [], blocksPerChannel: blocks)
    code.values.reserveCapacity(values.count)
    for start in stride(from: 0, to: values.count, by: run) {
      let range = start..<start + run
      code.scales.append(integers(values[range], weights: importance?[range], bits: form.bits, &code.values))
    }
    return code
  }

  /// Appends numbers as multiples of a scale. Of several scales, the one with the least squared error is taken.
  ///
  /// - Parameter weights: How much the squared error of each number counts; nil if all count equally.
  /// - Returns: The scale.
  func integers(
    _ numbers: ArraySlice<Float>, weights: ArraySlice<Float>?, bits: Int, _ values: inout [Int8]
  ) -> Float {
    let limit = Float(1 << (bits - 1) - 1)
    let largest = numbers.reduce(0) { max($0, abs($1)) }
    var best: (error: Double, scale: Float) = (.infinity, 1)
    // A smaller scale cuts off the largest numbers, and is finer for all others.
    for share in bits == 8 ? [1] : [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6] as [Float] {
      let scale = stored(largest * share / limit)
      guard scale > 0 else { continue }
      var error = 0.0
      if bits < 8 {
        let shift = (weights?.startIndex ?? 0) - numbers.startIndex
        for (place, number) in zip(numbers.indices, numbers) {
          let difference = Double(number) - Double(Self.multiple(number, scale, limit) * scale)
          error += difference * difference * Double(weights?[place + shift] ?? 1)
        }
      }
      if error < best.error { best = (error, scale) }
    }
    for number in numbers { values.append(Int8(truncatingIfNeeded: Int32(Self.multiple(number, best.scale, limit)))) }
    return best.scale
  }

  private static func multiple(_ number: Float, _ scale: Float, _ limit: Float) -> Float {
    // Adding and subtracting 1.5 * 2^23 rounds to an integer, ties to even.
    (max(-limit, min(limit, number / scale)) + 0x1.8p23) - 0x1.8p23
  }
}
