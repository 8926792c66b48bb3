/// Vectors of length 1, whose product is the cosine of their angle.
enum UnitVector {
  /// A vector brought to length 1, as little-endian float32; nil where it has none, or is not finite.
  static func bytes(_ vector: [Float]) -> [UInt8]? {
    let square = vector.reduce(0.0) { $0 + Double($1) * Double($1) }
    guard square > 0, square.isFinite else { return nil }
    let scale = 1 / square.squareRoot()
    return vector.flatMap { value in
      withUnsafeBytes(of: Float(Double(value) * scale).bitPattern.littleEndian) { Array($0) }
    }
  }

  /// The product of two vectors that lie in memory anywhere, exact but for the rounding of its sums.
  ///
  /// - Parameters:
  ///   - a: `count` float32.
  ///   - b: `count` float32.
  static func product(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, count: Int) -> Float {
    typealias Lanes = SIMD16<Float>
    var (even, odd) = (Lanes.zero, Lanes.zero)
    let step = 16 * MemoryLayout<Float>.stride
    let end = count * MemoryLayout<Float>.stride
    var at = 0
    while at + 2 * step <= end {
      even += a.loadUnaligned(fromByteOffset: at, as: Lanes.self) * b.loadUnaligned(fromByteOffset: at, as: Lanes.self)
      odd +=
        a.loadUnaligned(fromByteOffset: at + step, as: Lanes.self)
        * b.loadUnaligned(fromByteOffset: at + step, as: Lanes.self)
      at += 2 * step
    }
    var sum = (even + odd).sum()
    while at < end {
      sum += a.loadUnaligned(fromByteOffset: at, as: Float.self) * b.loadUnaligned(fromByteOffset: at, as: Float.self)
      at += MemoryLayout<Float>.stride
    }
    return sum
  }
}
