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
  /// The same, with differences and squares counted by the importance of the elements.
  let weightedError: Double
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
  /// How much the squared error of each element counts; nil if all count equally.
  var importance: [Float]?
  private let squares: Double
  /// Whether all elements are finite, as every smaller form needs.
  private let isFinite: Bool

  init(_ values: [Float], _ shape: [Int], isHalf: Bool) {
    (self.values, self.shape, self.isHalf) = (values, shape, isHalf)
    squares = Self.squaredDistance(values, nil)
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
  func stored(_ number: Float) -> Float { isHalf ? Self.half(number) : number }

  /// Returns the nearest float16 number, ties to even. `Float16` has no instruction without F16C.
  static func half(_ number: Float) -> Float {
    let magnitude = number.magnitude
    // The last digit of numbers from 0.5 to 1 is that of the smallest float16 numbers.
    let small = (magnitude + 0.75) - 0.75
    let bits = magnitude.bitPattern
    let normal = Float(bitPattern: (bits &+ 0xFFF &+ (bits >> 13 & 1)) & ~0x1FFF)
    let rounded = magnitude < 0x1p-14 ? small : magnitude < 65520 ? normal : .infinity
    return Float(bitPattern: rounded.bitPattern | number.bitPattern & 0x8000_0000)
  }

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

  private func compressed(_ code: PaletteCode) -> CompressedWeight { compressed(.palette(code), decoded(code)) }
  private func compressed(_ code: IntegerCode) -> CompressedWeight { compressed(.integers(code), decoded(code)) }

  /// Returns a code with the errors of its numbers.
  func compressed(_ code: CompressedWeight.Code, _ decoded: [Float]) -> CompressedWeight {
    let relative = squares > 0 ? Self.squaredDistance(values, decoded) / squares : 0
    return CompressedWeight(code: code, relativeError: relative, weightedError: weightedError(decoded) ?? relative)
  }

  private func weightedError(_ decoded: [Float]) -> Double? {
    guard let importance else { return nil }
    var (error, squares) = (0.0, 0.0)
    for (place, weight) in importance.enumerated() {
      let (value, difference) = (Double(values[place]), Double(values[place]) - Double(decoded[place]))
      error += Double(weight) * difference * difference
      squares += Double(weight) * value * value
    }
    return squares > 0 ? error / squares : 0
  }

  private func half() -> CompressedWeight? {
    guard !isHalf else { return nil }
    let halves = values.map(Float16.init)
    guard halves.allSatisfy(\.isFinite) else { return nil }
    return compressed(.half(halves.map(\.bitPattern)), halves.map(Float.init))
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

  /// The sum of squared differences of two lists; of squares of one list if the other is nil.
  private static func squaredDistance(_ first: [Float], _ second: [Float]?) -> Double {
    // Several sums, because each addition waits for the one before.
    var sums = SIMD8<Double>.zero
    var place = 0
    first.withUnsafeBufferPointer { first in
      func add(_ second: UnsafeBufferPointer<Float>?) {
        while place + 8 <= first.count {
          var part = SIMD8<Double>(UnsafeRawPointer(first.baseAddress! + place).loadUnaligned(as: SIMD8<Float>.self))
          if let second {
            part -= SIMD8<Double>(UnsafeRawPointer(second.baseAddress! + place).loadUnaligned(as: SIMD8<Float>.self))
          }
          sums += part * part
          place += 8
        }
        while place < first.count {
          let part = Double(first[place]) - Double(second?[place] ?? 0)
          sums[0] += part * part
          place += 1
        }
      }
      if let second { second.withUnsafeBufferPointer { add($0) } } else { add(nil) }
    }
    return sums.sum()
  }

  private func decoded(_ code: PaletteCode) -> [Float] {
    let (size, length) = (channelSize, 1 << code.bits)
    let channelsPerGroup = channelCount / code.groupCount
    return [Float](unsafeUninitializedCapacity: values.count) { numbers, count in
      for channel in 0..<channelCount {
        let table = channel / channelsPerGroup * length
        let entries = (0..<length).map { index in
          let entry = code.tables[(table + index) * code.vectorSize + channel % code.vectorSize]
          return code.scales.map { stored(entry * $0[channel]) } ?? entry
        }
        let first = channel / code.vectorSize * size
        for place in 0..<size { numbers[channel * size + place] = entries[Int(code.indices[first + place])] }
      }
      count = values.count
    }
  }

  private func decoded(_ code: IntegerCode) -> [Float] {
    let run = channelSize / code.blocksPerChannel
    return [Float](unsafeUninitializedCapacity: values.count) { numbers, count in
      for (block, scale) in code.scales.enumerated() {
        for place in block * run..<(block + 1) * run { numbers[place] = stored(Float(code.values[place]) * scale) }
      }
      count = values.count
    }
  }
}
