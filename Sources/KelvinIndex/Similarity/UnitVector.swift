/// Vectors of length 1, whose dot product is the cosine similarity.
enum UnitVector {
  /// Normalizes a vector to length 1, as little-endian float32; nil for a vector of length 0 or one that is not finite.
  static func bytes(_ vector: [Float]) -> [UInt8]? {
    let square = vector.reduce(0.0) { $0 + Double($1) * Double($1) }
    guard square > 0, square.isFinite else { return nil }
    let scale = 1 / square.squareRoot()
    return vector.flatMap { value in
      withUnsafeBytes(of: Float(Double(value) * scale).bitPattern.littleEndian) { Array($0) }
    }
  }

  /// Returns the dot product of two vectors, which need not be aligned, in float32 arithmetic.
  ///
  /// - Parameters:
  ///   - a: The address of `count` float32 numbers.
  ///   - b: The address of `count` float32 numbers.
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
