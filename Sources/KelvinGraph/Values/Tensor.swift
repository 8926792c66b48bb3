/// A dense, row-major, immutable tensor in host memory.
package struct Tensor: Sendable {
  package let type: TensorType
  package let bytes: Bytes

  /// Creates a tensor.
  ///
  /// - Precondition: `bytes` holds exactly `type.byteCount` bytes.
  package init(_ type: TensorType, _ bytes: Bytes) {
    precondition(bytes.count == type.byteCount, "\(type) takes \(type.byteCount) bytes, got \(bytes.count)")
    self.type = type
    self.bytes = bytes
  }

  package init(_ values: [Float], _ shape: Shape) { self.init(TensorType(.float32, shape), Bytes(values)) }
  package init(_ values: [Int64], _ shape: Shape) { self.init(TensorType(.int64, shape), Bytes(values)) }

  /// Creates a tensor of values that are rounded once to the element type. Integers saturate and are truncated towards
  /// zero.
  package init(_ type: TensorType, rounding values: [Double]) {
    precondition(values.count == type.count)
    self.init(type, Bytes(count: type.byteCount) { Tensor.store(values, as: type.scalar, in: $0) })
  }

  package var shape: Shape { type.shape }
  package var count: Int { type.count }

  /// The elements as float64. Exact for all types except 64-bit integers beyond 2^53.
  package var doubles: [Double] {
    bytes.withUnsafeBytes { raw in
      func read<T: BitwiseCopyable>(_: T.Type, _ convert: (T) -> Double) -> [Double] {
        (0..<count).map { convert(raw.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.stride, as: T.self)) }
      }
      return switch type.scalar {
      case .float16: read(UInt16.self) { Double(Float(halfBits: $0)) }
      case .float32: read(Float.self) { Double($0) }
      case .float64: read(Double.self) { $0 }
      case .int8: read(Int8.self) { Double($0) }
      case .int16: read(Int16.self) { Double($0) }
      case .int32: read(Int32.self) { Double($0) }
      case .int64: read(Int64.self) { Double($0) }
      case .uint8, .bool: read(UInt8.self) { Double($0) }
      case .uint16: read(UInt16.self) { Double($0) }
      case .uint32: read(UInt32.self) { Double($0) }
      case .uint64: read(UInt64.self) { Double($0) }
      }
    }
  }

  /// The elements as float32.
  package var floats: [Float] {
    func read(_ fill: (UnsafeRawBufferPointer, UnsafeMutableBufferPointer<Float>) -> Void) -> [Float] {
      bytes.withUnsafeBytes { raw in
        [Float](unsafeUninitializedCapacity: count) { target, initialized in
          fill(raw, target)
          initialized = count
        }
      }
    }
    switch type.scalar {
    case .float32: return read { UnsafeMutableRawBufferPointer($1).copyMemory(from: $0) }
    case .float16:
      return read { raw, target in
        for index in 0..<count {
          target[index] = Float(halfBits: raw.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        }
      }
    case .int64: return words.map { Float($0) }
    case .uint64: return words.map { Float(UInt64(bitPattern: $0)) }
    default: return doubles.map(Float.init)
    }
  }

  /// The elements as integers. Floating-point values are truncated, and saturate if they are out of range.
  package var integers: [Int] {
    switch type.scalar {
    case .float16, .float32, .float64: doubles.map { Int(saturating: $0) }
    case .uint64: words.map { Int(clamping: UInt64(bitPattern: $0)) }
    default: words.map { Int($0) }
    }
  }

  /// The elements of an integer type, widened to 64 bits; those of uint64 as their bits.
  package var words: [Int64] {
    precondition(!type.scalar.isFloatingPoint)
    return bytes.withUnsafeBytes { raw in
      func read<T: FixedWidthInteger>(_: T.Type) -> [Int64] {
        (0..<count).map {
          Int64(truncatingIfNeeded: raw.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.stride, as: T.self))
        }
      }
      return switch type.scalar {
      case .int8: read(Int8.self)
      case .int16: read(Int16.self)
      case .int32: read(Int32.self)
      case .uint8, .bool: read(UInt8.self)
      case .uint16: read(UInt16.self)
      case .uint32: read(UInt32.self)
      default: read(Int64.self)
      }
    }
  }

  /// Creates a tensor from the low bits of integers; booleans are whether the integer is nonzero.
  package init(_ type: TensorType, wrapping words: [Int64]) {
    precondition(words.count == type.count && !type.scalar.isFloatingPoint)
    func narrow<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type) -> Bytes {
      Bytes(words.map { T(truncatingIfNeeded: $0) })
    }
    let bytes =
      switch type.scalar {
      case .int8, .uint8: narrow(UInt8.self)
      case .int16, .uint16: narrow(UInt16.self)
      case .int32, .uint32: narrow(UInt32.self)
      case .bool: Bytes(words.map { UInt8($0 == 0 ? 0 : 1) })
      default: Bytes(words)
      }
    self.init(type, bytes)
  }

  /// Returns the same elements in another element type. Numbers are rounded once. Floating-point numbers become
  /// integers by truncation, and saturate if they are out of range. Integers become integers by their low bits.
  package func converted(to scalar: ScalarType) -> Tensor {
    if scalar == type.scalar { return self }
    if !scalar.isFloatingPoint, !type.scalar.isFloatingPoint {
      return Tensor(TensorType(scalar, shape), wrapping: words)
    }
    if scalar == .float32 { return Tensor(floats, shape) }
    return Tensor(TensorType(scalar, shape), rounding: doubles)
  }

  /// The single element if float32 represents it exactly, which includes not-a-number.
  package var exactFloat: Float? {
    guard count == 1, let float = floats.first else { return nil }
    if type.scalar.isFloatingPoint { return float.isNaN || Double(float) == doubles[0] ? float : nil }
    return float.magnitude < 0x1p53 && Double(float) == doubles[0] && Int64(float) == words[0] ? float : nil
  }

  /// Returns the same elements in another shape.
  package func reshaped(to shape: Shape) -> Tensor { Tensor(TensorType(type.scalar, shape), bytes) }

  /// Writes values to dense memory of the given element type, with the rounding of `init(_:rounding:)`.
  package static func store(_ values: [Double], as scalar: ScalarType, in raw: UnsafeMutableRawBufferPointer) {
    func write<T: BitwiseCopyable>(_ convert: (Double) -> T) {
      for (index, value) in values.enumerated() {
        raw.storeBytes(of: convert(value), toByteOffset: index * MemoryLayout<T>.stride, as: T.self)
      }
    }
    switch scalar {
    case .float16: write { $0.halfBits }
    case .float32: write { Float($0) }
    case .float64: write { $0 }
    case .int8: write { Int8(clamping: Int(saturating: $0)) }
    case .int16: write { Int16(clamping: Int(saturating: $0)) }
    case .int32: write { Int32(clamping: Int(saturating: $0)) }
    case .int64: write { Int64(Int(saturating: $0)) }
    case .uint8: write { UInt8(clamping: Int(saturating: $0)) }
    case .uint16: write { UInt16(clamping: Int(saturating: $0)) }
    case .uint32: write { UInt32(clamping: Int(saturating: $0)) }
    case .uint64: write { $0 >= 0x1p64 ? .max : $0 >= 0x1p63 ? UInt64($0) : UInt64(clamping: Int(saturating: $0)) }
    case .bool: write { UInt8($0 == 0 ? 0 : 1) }
    }
  }
}

extension Int {
  /// Creates an integer by truncation towards zero; not-a-number becomes 0, and values out of range become the nearest
  /// integer.
  package init(saturating value: Double) {
    if value.isNaN {
      self = 0
    } else if value >= 0x1p63 {
      self = .max
    } else if value < -0x1p63 {
      self = .min
    } else {
      self = Int(value)
    }
  }
}
