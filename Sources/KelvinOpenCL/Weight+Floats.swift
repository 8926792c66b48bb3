internal import KelvinGraph

extension Weight {
  /// The elements as float32.
  func floats() -> [Float] {
    [Float](unsafeUninitializedCapacity: type.count) { target, count in
      count = type.count
      fill(UnsafeMutableBufferPointer(rebasing: target[..<count]))
    }
  }

  /// Writes the elements as float32 to the start of `target`.
  func fill(_ target: UnsafeMutableBufferPointer<Float>) {
    let tensor = dense()
    tensor.bytes.withUnsafeBytes { raw in
      switch tensor.type.scalar {
      case .float32: UnsafeMutableRawBufferPointer(target).copyMemory(from: raw)
      case .float16:
        for index in 0..<tensor.count {
          target[index] = Float(halfBits: raw.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        }
      default: for (index, value) in tensor.doubles.enumerated() { target[index] = Float(value) }
      }
    }
  }
}
