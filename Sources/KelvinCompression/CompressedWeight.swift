import KelvinGraph

/// A weight in a smaller form.
struct CompressedWeight {
  enum Code {
    /// Numbers in the weight's own type.
    case dense([Float])
    /// The bits of float16 numbers.
    case half([UInt16])
    case palette(PaletteCode)
    case integers(IntegerCode)
    /// The elements that are not zero, in the tensor's order.
    case sparse(mask: [Bool], SparseNumbers)
  }

  enum SparseNumbers {
    case plain([Float])
    case palette(indices: [UInt8], table: [Float])
    case integers(IntegerCode)
  }

  let code: Code
  /// The sum of squared differences from the original, divided by the sum of squares of the original.
  let relativeError: Double
}

/// Indices into tables.
struct PaletteCode {
  let bits: Int
  /// By element, or by vector along the first axis.
  var indices: [UInt8]
  /// The tables of all groups, each of 2 to the power of `bits` vectors.
  var tables: [Float]
  var groupCount = 1
  var vectorSize = 1
  /// By position along the first axis; nil without scales.
  var scales: [Float]?
}

/// Integers, and scales.
struct IntegerCode {
  let bits: Int
  var values: [Int8]
  /// By position along the first axis, then by block of the second.
  var scales: [Float]
  var blocksPerChannel = 1
}

/// The elements of a weight, float16 or float32.
struct WeightElements {
  let values: [Float]
  let shape: [Int]
  /// Whether tables and scales are float16.
  let isHalf: Bool
  private let squares: Double
  /// Whether all elements are finite, as every smaller form needs.
  private let isFinite: Bool

  init(_ values: [Float], _ shape: [Int], isHalf: Bool) {
    (self.values, self.shape, self.isHalf) = (values, shape, isHalf)
    squares = values.reduce(0) { $0 + Double($1) * Double($1) }
    isFinite = squares.isFinite
  }

  /// The size of the first axis.
  var channelCount: Int { max(shape.first ?? 1, 1) }
  /// The number of elements at one position along the first axis.
  var channelSize: Int { values.count / channelCount }

  /// Returns the largest divisor of a number up to a limit.
  static func divisor(of number: Int, upTo limit: Int) -> Int {
    (1...max(min(limit, number), 1)).last { number % $0 == 0 } ?? 1
  }

  /// Returns the number as the file stores it.
  func stored(_ number: Float) -> Float { isHalf ? Float(Float16(number)) : number }

  /// Returns the weight in the forms that it can have.
  func compressed(_ forms: [WeightForm]) -> [WeightForm: CompressedWeight] {
    guard isFinite, !values.isEmpty else { return [:] }
    var found: [WeightForm: CompressedWeight] = [:]
    // The tables of all lengths are made in one pass.
    var plain: [WeightForm.Palette: [Int]] = [:]
    for form in forms {
      if let pruning = form.pruning {
        found[form] = pruned(pruning, form.numbers)
        continue
      }
      switch form.numbers {
      case .original: continue
      case .float16: found[form] = half()
      case .integers(let integers): found[form] = integerCode(integers).map(compressed)
      case .palette(let palette) where palette.vectorSize > 1: found[form] = vectors(palette).map(compressed)
      case .palette(var palette):
        let bits = palette.bits
        palette.bits = 0
        plain[palette, default: []].append(bits)
      }
    }
    for (palette, bits) in plain {
      for code in palettes(palette, bits: bits) {
        var palette = palette
        palette.bits = code.bits
        found[WeightForm(palette)] = compressed(code)
      }
    }
    return found
  }

  private func compressed(_ code: PaletteCode) -> CompressedWeight {
    CompressedWeight(code: .palette(code), relativeError: relativeError(decoded(code)))
  }

  private func compressed(_ code: IntegerCode) -> CompressedWeight {
    CompressedWeight(code: .integers(code), relativeError: relativeError(decoded(code)))
  }

  private func half() -> CompressedWeight? {
    guard !isHalf else { return nil }
    let halves = values.map(Float16.init)
    guard halves.allSatisfy(\.isFinite) else { return nil }
    return CompressedWeight(code: .half(halves.map(\.bitPattern)), relativeError: relativeError(halves.map(Float.init)))
  }

  /// Returns the numbers that a code stands for.
  func decoded(_ code: CompressedWeight.Code) -> [Float] {
    switch code {
    case .dense(let numbers): return numbers
    case .half(let bits): return bits.map { Float(Float16(bitPattern: $0)) }
    case .palette(let code): return decoded(code)
    case .integers(let code): return decoded(code)
    case .sparse(let mask, let sparse): return decoded(mask, sparse)
    }
  }

  private func decoded(_ mask: [Bool], _ sparse: CompressedWeight.SparseNumbers) -> [Float] {
    var whole = [Float](repeating: 0, count: values.count)
    for (number, place) in mask.indices.filter({ mask[$0] }).enumerated() {
      switch sparse {
      case .plain(let numbers): whole[place] = numbers[number]
      case .palette(let indices, let table): whole[place] = table[Int(indices[number])]
      case .integers(let code):
        whole[place] = stored(Float(code.values[number]) * code.scales[place / channelSize])
      }
    }
    return whole
  }

  func relativeError(_ decoded: [Float]) -> Double {
    var error = 0.0
    for (value, other) in zip(values, decoded) {
      let difference = Double(value) - Double(other)
      error += difference * difference
    }
    return squares > 0 ? error / squares : 0
  }

  private func decoded(_ code: PaletteCode) -> [Float] {
    let (size, length) = (channelSize, 1 << code.bits)
    let channelsPerGroup = channelCount / code.groupCount
    return (0..<values.count).map { place in
      let channel = place / size
      let index = code.indices[channel / code.vectorSize * size + place % size]
      let entry = (channel / channelsPerGroup * length + Int(index)) * code.vectorSize + channel % code.vectorSize
      return code.scales.map { stored(code.tables[entry] * $0[channel]) } ?? code.tables[entry]
    }
  }

  private func decoded(_ code: IntegerCode) -> [Float] {
    let size = channelSize
    let inner = size / (shape.count > 1 ? max(shape[1], 1) : 1)
    let width = size / inner / code.blocksPerChannel
    return (0..<values.count).map { place in
      let block = place % size / inner / max(width, 1)
      return stored(Float(code.values[place]) * code.scales[place / size * code.blocksPerChannel + block])
    }
  }
}
