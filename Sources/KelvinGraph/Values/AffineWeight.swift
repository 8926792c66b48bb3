/// A linearly quantized weight: `w = scale · (data - offset)`, or `w = scale · data + bias`.
///
/// Scale, offset and bias have the same shape, which divides the data into blocks: one element for the tensor, for each
/// channel, or for each block along any axes.
///
/// Rounding follows coremltools. With an offset, the arithmetic is that of the scale's type, or of the offset's if that
/// is a wider floating-point type. The data are rounded to the scale's type, each operation is rounded, and the result
/// is rounded to the scale's type. With a bias, the arithmetic is float64, rounded once.
package struct AffineWeight: Sendable {
  /// The quantized elements: 8-bit integers, usually packed ones, or floating-point numbers.
  package let data: Weight
  package let scale: Weight
  package let offset: Weight?
  package let bias: Weight?
  private let grid: BlockGrid

  fileprivate init(_ data: Weight, _ scale: Weight, _ offset: Weight?, _ bias: Weight?, _ grid: BlockGrid) {
    self.data = data
    self.scale = scale
    self.offset = offset
    self.bias = bias
    self.grid = grid
  }

  func dense() -> Tensor {
    let type = TensorType(scale.type.scalar, data.type.shape)
    return Tensor(
      type,
      Bytes(count: type.byteCount) { target in
        if type.scalar == .float16 { fill(target, UInt16.self) } else { fill(target, Float.self) }
      })
  }

  private func fill<T: AffineResult>(_ target: UnsafeMutableRawBufferPointer, _: T.Type) {
    guard let output = target.bindMemory(to: T.self).baseAddress else { return }
    let rule = AffineRule<T>(
      scales: scale.dense().floats, offsets: offset?.dense().floats, biases: bias?.dense().floats,
      roundsSteps: scale.type.scalar == .float16 && offset?.type.scalar != .float32,
      isExact: bias == nil && offset?.type.scalar.isFloatingPoint != true)
    let scalar = data.type.scalar
    guard !scalar.isFloatingPoint else {
      let values = data.dense().floats
      grid.forEachRun { start, count, block in
        for index in start..<start + count { output[index] = rule.result(values[index], block) }
      }
      return
    }
    // All possible results of a block are computed once if that is less work.
    let codeCount = 1 << (scalar == .int8 ? 8 : data.quantizedBits)
    let isSigned = scalar == .int8
    var known = -1
    withUnsafeTemporaryAllocation(of: T.self, capacity: 256) { table in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { every in
        guard let results = table.baseAddress, let every = every.baseAddress else { return }
        for code in 0..<256 { every[code] = UInt8(code) }
        data.forEachCode(grid) { start, codes, count, block in
          if known != block, grid.runLength >= 4 * codeCount {
            rule.results(every, codeCount, isSigned: isSigned, block, to: results)
            known = block
          }
          if known == block {
            for index in 0..<count { output[start + index] = results[Int(codes[index])] }
          } else {
            rule.results(codes, count, isSigned: isSigned, block, to: output + start)
          }
        }
      }
    }
  }
}

/// A stored element type of results.
private protocol AffineResult: BitwiseCopyable {
  init(rounding value: Float)
}

extension UInt16: AffineResult {
  /// Creates the bits of a binary16 number.
  @inline(__always)
  fileprivate init(rounding value: Float) { self = value.halfBits }
}

extension Float: AffineResult {
  @inline(__always)
  fileprivate init(rounding value: Float) { self = value }
}

/// The arithmetic of one weight.
private struct AffineRule<Result: AffineResult> {
  let scales: [Float]
  let offsets: [Float]?
  let biases: [Float]?
  /// Whether each operation is rounded to binary16.
  let roundsSteps: Bool
  /// Whether differences of integers are exact, so that only the product is rounded.
  let isExact: Bool

  func result(_ data: Float, _ block: Int) -> Result {
    if let biases { return Result(rounding: Float(Double(data) * Double(scales[block]) + Double(biases[block]))) }
    var difference = Result.self == UInt16.self ? Float(halfBits: data.halfBits) : data
    if let offsets { difference -= offsets[block] }
    if roundsSteps { difference = Float(halfBits: difference.halfBits) }
    return Result(rounding: scales[block] * difference)
  }

  /// Computes the results of 8-bit integers of one block.
  func results(
    _ codes: UnsafePointer<UInt8>, _ count: Int, isSigned: Bool, _ block: Int, to output: UnsafeMutablePointer<Result>
  ) {
    let flip: UInt8 = isSigned ? 0x80 : 0
    let shift: Float = isSigned ? 128 : 0
    if isExact {
      let (scale, offset) = (scales[block], (offsets?[block] ?? 0) + shift)
      for index in 0..<count {
        output[index] = Result(rounding: scale * (Float(codes[index] ^ flip) - offset))
      }
    } else {
      for index in 0..<count { output[index] = result(Float(codes[index] ^ flip) - shift, block) }
    }
  }
}

extension Weight {
  /// Creates the weight `scale · (data - offset)`.
  ///
  /// - Parameters:
  ///   - data: 8-bit integers, packed or not, float16 or float32.
  ///   - scale: float16 or float32, the type of the result; its shape divides the data's into blocks.
  ///   - offset: In the scale's shape, 8-bit integers, float16 or float32; zero if it is nil.
  /// - Throws: `GraphError` if the arguments do not match each other.
  package init(affine data: Weight, scale: Weight, offset: Weight? = nil) throws(GraphError) {
    try self.init(data, scale, offset: offset, bias: nil)
  }

  /// Creates the weight `scale · data + bias`, computed in float64 and rounded once; scale and bias are float32, of the
  /// same shape.
  package init(affine data: Weight, scale: Weight, bias: Weight) throws(GraphError) {
    guard scale.type.scalar == .float32, bias.type.scalar == .float32 else {
      throw GraphError("quantized weight", "scale is \(scale.type), bias \(bias.type), expected float32")
    }
    try self.init(data, scale, offset: nil, bias: bias)
  }

  private init(_ data: Weight, _ scale: Weight, offset: Weight?, bias: Weight?) throws(GraphError) {
    func invalid(_ reason: String) -> GraphError { GraphError("quantized weight", reason) }
    let allowed: [ScalarType] = [.int8, .uint8, .float16, .float32]
    guard allowed.contains(data.type.scalar) else { throw invalid("\(data.type) cannot be scaled") }
    guard scale.type.scalar == .float16 || scale.type.scalar == .float32 else {
      throw invalid("scale is \(scale.type), expected float16 or float32")
    }
    guard let grid = BlockGrid(data.type.shape, blocks: scale.type.shape) else {
      throw invalid("scale \(scale.type.shape) does not divide \(data.type.shape) into blocks")
    }
    for part in [offset, bias].compactMap({ $0 }) {
      guard part.type.shape == scale.type.shape, allowed.contains(part.type.scalar) else {
        throw invalid("scale is \(scale.type), offset or bias \(part.type)")
      }
    }
    try self.init(
      .affine(AffineWeight(data, scale, offset, bias, grid)), TensorType(scale.type.scalar, data.type.shape),
      of: [data, scale] + [offset, bias].compactMap { $0 })
  }
}
