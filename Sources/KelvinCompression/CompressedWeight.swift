import KelvinGraph

/// A weight in a smaller form.
struct CompressedWeight {
  enum Code {
    /// Packed indices, lowest bits first, into a table.
    case palette(indices: [UInt8], table: [Float])
    /// Integers, and the scale of each position along the first axis.
    case int8(values: [Int8], scales: [Float])
  }

  let code: Code
  /// The sum of squared differences from the original, divided by the sum of squares of the original.
  let relativeError: Double
}

/// The elements of a weight, float16 or float32.
struct WeightElements {
  let values: [Float]
  let shape: [Int]
  /// Whether tables and scales are float16.
  let isHalf: Bool
  private let distinct: (numbers: [Float], counts: [Double])
  /// The optimal palettes of up to 256 colors.
  private let clustering: ScalarClustering?

  /// - Parameter limit: The greatest number of entries of a table.
  init(_ values: [Float], _ shape: [Int], isHalf: Bool, tablesUpTo limit: Int) {
    (self.values, self.shape, self.isHalf) = (values, shape, isHalf)
    distinct = Self.count(values)
    let isFinite = distinct.numbers.allSatisfy(\.isFinite)
    clustering =
      isFinite && limit > 0 ? ScalarClustering(distinct.numbers, weights: distinct.counts, limit: limit) : nil
  }

  private static func count(_ values: [Float]) -> (numbers: [Float], counts: [Double]) {
    let sorted = values.sorted()
    var (numbers, counts): ([Float], [Double]) = ([], [])
    for value in sorted {
      if numbers.last == value {
        counts[counts.count - 1] += 1
      } else {
        numbers.append(value)
        counts.append(1)
      }
    }
    return (numbers, counts)
  }

  private func relative(_ squaredError: Double) -> Double {
    let squares = zip(distinct.numbers, distinct.counts).reduce(0) { $0 + Double($1.0) * Double($1.0) * $1.1 }
    return squares > 0 ? squaredError / squares : 0
  }

  /// Returns the number as the file stores it.
  private func stored(_ number: Float) -> Float { isHalf ? Float(Float16(number)) : number }

  /// Returns the weight in a form; nil if it has numbers that are not finite.
  func compressed(_ form: WeightForm) -> CompressedWeight? {
    switch form {
    case .original: nil
    case .palette(let bits): palette(bits)
    case .int8: integers()
    }
  }

  private func palette(_ bits: Int) -> CompressedWeight? {
    guard let clustering else { return nil }
    let (starts, means) = clustering.clusters(1 << bits)
    var table = means.map(stored)
    // By number, the index of its cluster, and the error.
    var places: [Float: UInt8] = [:]
    var error = 0.0
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1] : distinct.numbers.count
      for position in start..<end {
        let number = distinct.numbers[position]
        places[number] = UInt8(index)
        let difference = Double(number) - Double(table[index])
        error += distinct.counts[position] * difference * difference
      }
    }
    table += [Float](repeating: table.last ?? 0, count: (1 << bits) - table.count)
    return CompressedWeight(
      code: .palette(indices: Self.pack(values.map { places[$0] ?? 0 }, bits: bits), table: table),
      relativeError: relative(error))
  }

  /// Packs indices, lowest bits first.
  private static func pack(_ indices: [UInt8], bits: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: (indices.count * bits + 7) / 8)
    for (index, value) in indices.enumerated() {
      let position = index * bits
      let wide = UInt16(value) << UInt16(position % 8)
      bytes[position / 8] |= UInt8(truncatingIfNeeded: wide)
      if wide > 0xFF { bytes[position / 8 + 1] |= UInt8(wide >> 8) }
    }
    return bytes
  }

  private func integers() -> CompressedWeight? {
    guard let channels = shape.first, channels > 0, values.count % channels == 0, values.allSatisfy(\.isFinite) else {
      return nil
    }
    let width = values.count / channels
    var (codes, scales, error): ([Int8], [Float], Double) = ([], [], 0)
    codes.reserveCapacity(values.count)
    for channel in 0..<channels {
      let row = values[channel * width..<(channel + 1) * width]
      let largest = row.reduce(0) { max($0, abs($1)) }
      // A channel of zeros has any scale.
      let scale = largest > 0 ? stored(largest / 127) : 1
      for value in row {
        let code = scale > 0 ? max(-127, min(127, (value / scale).rounded(.toNearestOrEven))) : 0
        codes.append(Int8(code))
        let difference = Double(value) - Double(code) * Double(scale)
        error += difference * difference
      }
      scales.append(scale)
    }
    return CompressedWeight(code: .int8(values: codes, scales: scales), relativeError: relative(error))
  }
}
