public import Foundation
public import Kelvin

extension MLTensor {
  /// Creates a tensor from numbers in row-major order.
  ///
  /// - Precondition: there are as many numbers as the shape needs.
  public init<Scalar: MLTensorScalar>(
    shape: [Int], scalars: some Collection<Scalar>, scalarType: Scalar.Type = Scalar.self
  ) {
    precondition(
      scalars.count == shape.reduce(1, *), "\(scalars.count) scalars for a tensor of shape \(shape)")
    self.init(
      MultiArray.filled(Scalar.multiArrayDataType, shape) { bytes in
        _ = bytes.bindMemory(to: Scalar.self).update(fromContentsOf: scalars)
      })
  }

  /// Creates a tensor of float32 numbers in row-major order.
  ///
  /// - Precondition: there are as many numbers as the shape needs.
  public init(shape: [Int], scalars: some Collection<Float>) {
    self.init(shape: shape, scalars: scalars, scalarType: Float.self)
  }

  /// Creates a tensor from a copy of bytes in row-major order.
  ///
  /// - Precondition: there are as many bytes as the shape needs.
  public init(shape: [Int], data: Data, scalarType: any MLTensorScalar.Type) {
    self.init(unsafeUninitializedShape: shape, scalarType: scalarType) { bytes in
      precondition(bytes.count == data.count, "\(data.count) bytes for a tensor of shape \(shape) of \(scalarType)")
      data.copyBytes(to: bytes)
    }
  }

  /// Creates a tensor over bytes in row-major order, without a copy.
  ///
  /// - Precondition: there are at least as many bytes as the shape needs, aligned for the type. They do not change before
  ///   the deallocator is called.
  public init(
    bytesNoCopy bytes: UnsafeRawBufferPointer, shape: [Int], scalarType: any MLTensorScalar.Type,
    deallocator: Data.Deallocator
  ) {
    let type = scalarType.multiArrayDataType
    precondition(
      bytes.count >= shape.reduce(type.byteCount, *),
      "\(bytes.count) bytes for a tensor of shape \(shape) of \(scalarType)")
    guard let base = bytes.baseAddress.map(UnsafeMutableRawPointer.init(mutating:)) else {
      self.init(MultiArray.filled(type, shape) { _ in })
      return
    }
    nonisolated(unsafe) let deallocator = deallocator
    let count = bytes.count
    do {
      self.init(
        try MultiArray(dataPointer: base, shape: shape, dataType: type) { memory in
          switch deallocator {
          case .free: free(memory)
          case .unmap: munmap(memory, count)
          case .custom(let release): release(memory, count)
          default: break
          }
        })
    } catch { preconditionFailure("\(error)") }
  }

  /// Creates a tensor whose memory `initializer` fills, in row-major order.
  public init(
    unsafeUninitializedShape shape: [Int], scalarType: any MLTensorScalar.Type,
    initializingWith initializer: (UnsafeMutableRawBufferPointer) throws -> Void
  ) rethrows {
    self.init(try MultiArray.filled(scalarType.multiArrayDataType, shape, initializer))
  }

  /// Creates a tensor from a copy of a shaped array's numbers.
  public init<ShapedArray: MLShapedArrayProtocol>(_ shapedArray: ShapedArray)
  where ShapedArray.Scalar: MLTensorScalar { self.init(MultiArray(shapedArray)) }

  /// Creates a tensor without dimensions.
  public init<Scalar: MLTensorScalar>(_ scalar: Scalar, scalarType: Scalar.Type = Scalar.self) {
    self.init(shape: [], scalars: CollectionOfOne(scalar), scalarType: Scalar.self)
  }

  /// Creates a tensor of one dimension.
  public init<Scalar: MLTensorScalar>(_ scalars: some Collection<Scalar>, scalarType: Scalar.Type = Scalar.self) {
    self.init(shape: [scalars.count], scalars: scalars, scalarType: Scalar.self)
  }

  /// Creates a tensor of one dimension.
  @_disfavoredOverload
  public init(_ scalars: some Collection<Float>) { self.init(scalars, scalarType: Float.self) }

  /// Creates a tensor of one dimension. Integer literals are int32.
  public init(_ scalars: some Collection<Int32>) { self.init(scalars, scalarType: Int32.self) }

  /// Creates a tensor with the same number in every element.
  public init<Scalar: MLTensorScalar>(
    repeating repeatedValue: Scalar, shape: [Int], scalarType: Scalar.Type = Scalar.self
  ) {
    self.init(
      MultiArray.filled(Scalar.multiArrayDataType, shape) { bytes in
        bytes.bindMemory(to: Scalar.self).update(repeating: repeatedValue)
      })
  }

  /// Creates a float32 tensor with the same number in every element.
  public init(repeating repeatedValue: Float, shape: [Int]) {
    self.init(repeating: repeatedValue, shape: shape, scalarType: Float.self)
  }

  /// Creates a tensor of zeros.
  public init<Scalar: MLTensorScalar & Numeric>(zeros shape: [Int], scalarType: Scalar.Type = Scalar.self) {
    self.init(repeating: 0, shape: shape, scalarType: Scalar.self)
  }

  /// Creates a tensor of ones.
  public init<Scalar: MLTensorScalar & Numeric>(ones shape: [Int], scalarType: Scalar.Type = Scalar.self) {
    self.init(repeating: 1, shape: shape, scalarType: Scalar.self)
  }

  /// Creates a tensor of one dimension: `count` numbers with equal distances, from `start` to `end`.
  ///
  /// - Precondition: `count` is at least 2.
  public init<Scalar: MLTensorScalar & BinaryFloatingPoint>(
    linearSpaceFrom start: Scalar, through end: Scalar, count: Int, scalarType: Scalar.Type = Scalar.self
  ) {
    precondition(count > 1, "a linear space of \(count) numbers: at least 2 are needed")
    let (first, last) = (Double(start), Double(end))
    let scalars = (0..<count).map { Scalar(first + (last - first) * (Double($0) / Double(count - 1))) }
    self.init(scalars.dropLast() + [end], scalarType: Scalar.self)
  }

  /// Creates a float32 tensor of one dimension: `count` numbers with equal distances, from `start` to `end`.
  ///
  /// - Precondition: `count` is at least 2.
  public init(linearSpaceFrom start: Float, through end: Float, count: Int) {
    self.init(linearSpaceFrom: start, through: end, count: count, scalarType: Float.self)
  }

  /// Creates a tensor of one dimension: the numbers from `start` to below `end`, with the distance `stride`.
  ///
  /// - Precondition: `stride` is positive.
  public init<Scalar: MLTensorScalar & Strideable>(
    rangeFrom start: Scalar, to end: Scalar, by stride: Scalar.Stride, scalarType: Scalar.Type = Scalar.self
  ) {
    precondition(stride > 0, "a range with the distance \(stride): it must be positive")
    self.init(Array(Swift.stride(from: start, to: end, by: stride)), scalarType: Scalar.self)
  }

  /// Creates a float32 tensor of one dimension: the numbers from `start` to below `end`, with the distance `stride`.
  ///
  /// - Precondition: `stride` is positive.
  public init(rangeFrom start: Float, to end: Float, by stride: Float.Stride) {
    self.init(rangeFrom: start, to: end, by: stride, scalarType: Float.self)
  }

  /// Creates a tensor of numbers from a normal distribution. Equal seeds give equal numbers.
  public init<Scalar: MLTensorScalar & BinaryFloatingPoint>(
    randomNormal shape: [Int], mean: Scalar = 0, standardDeviation: Scalar = 1, seed: UInt64? = nil,
    scalarType: Scalar.Type = Scalar.self
  ) {
    var random = TensorRandom(seed)
    let scalars = (0..<shape.reduce(1, *)).map { _ in
      Scalar(Double(mean) + Double(standardDeviation) * random.normal())
    }
    self.init(shape: shape, scalars: scalars, scalarType: Scalar.self)
  }

  /// Creates a tensor of numbers from a uniform distribution. Equal seeds give equal numbers.
  public init<Scalar: MLTensorScalar & BinaryFloatingPoint>(
    randomUniform shape: [Int], in bounds: Range<Scalar> = 0..<1, seed: UInt64? = nil,
    scalarType: Scalar.Type = Scalar.self
  ) {
    var random = TensorRandom(seed)
    let (first, last) = (Double(bounds.lowerBound), Double(bounds.upperBound))
    let scalars = (0..<shape.reduce(1, *)).map { _ in
      // Rounding may reach the upper bound, which is not in the range.
      Swift.min(Scalar(first + (last - first) * random.fraction()), bounds.upperBound.nextDown)
    }
    self.init(shape: shape, scalars: scalars, scalarType: Scalar.self)
  }

  /// Creates a tensor of integers from a uniform distribution. Equal seeds give equal numbers.
  public init<Scalar: MLTensorScalar & BinaryInteger>(
    randomUniform shape: [Int], in bounds: ClosedRange<Scalar> = 0...1, seed: UInt64? = nil,
    scalarType: Scalar.Type = Scalar.self
  ) {
    var random = TensorRandom(seed)
    let range = Int(bounds.lowerBound)...Int(bounds.upperBound)
    let scalars = (0..<shape.reduce(1, *)).map { _ in Scalar(Int.random(in: range, using: &random)) }
    self.init(shape: shape, scalars: scalars, scalarType: Scalar.self)
  }

  /// Stacks tensors along a new axis.
  ///
  /// - Precondition: there is at least one tensor, and all have one shape.
  public init(stacking tensors: some Collection<MLTensor>, alongAxis axis: Int = 0) {
    guard let first = tensors.first else { preconditionFailure("stacking: no tensors") }
    precondition(tensors.allSatisfy { $0.shape == first.shape }, "stacking: shapes \(tensors.map(\.shape)) differ")
    let axis = first.index(ofAxis: axis, extra: 1, "stacking")
    self.init(concatenating: tensors.map { $0.expandingShape(at: axis) }, alongAxis: axis)
  }

  /// Stacks tensors along a new axis.
  ///
  /// - Precondition: there is at least one tensor, and all have one shape.
  @_disfavoredOverload
  public init(_ elements: some Collection<MLTensor>, alongAxis axis: Int = 0) {
    self.init(stacking: elements, alongAxis: axis)
  }

  /// Concatenates tensors along an axis.
  ///
  /// - Precondition: there is at least one tensor, and the shapes differ only in the size of the axis.
  public init(concatenating tensors: some Collection<MLTensor>, alongAxis axis: Int = 0) {
    guard let first = tensors.first else { preconditionFailure("concatenating: no tensors") }
    let axis = first.index(ofAxis: axis, "concatenating")
    var shape = first.shape
    shape[axis] = 0
    for tensor in tensors {
      var other = tensor.shape
      if other.count == shape.count { other[axis] = shape[axis] }
      precondition(other == shape, "concatenating along axis \(axis): shapes \(tensors.map(\.shape)) do not fit")
      shape[axis] += tensor.shape[axis]
    }
    let parts = tensors.filter { $0.shape[axis] > 0 }
    let type = tensors.reduce(first.type) { $0.promoted(with: $1.type) }
    guard parts.count != 1 else { self = parts[parts.startIndex].cast(type); return }
    self.init(
      "Concat", parts.map { .node($0.cast(type).node) }, ["axis": .integer(axis)], shape: shape, type: type)
  }
}

/// Literals are float32, int32 and Boolean scalars, and arrays of tensors are stacked.
extension MLTensor: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral
{
  public init(floatLiteral value: Float) { self.init(literal: value) }
  public init(integerLiteral value: Int32) { self.init(literal: value) }
  public init(booleanLiteral value: Bool) { self.init(literal: value) }
  public init(arrayLiteral elements: MLTensor...) { self.init(stacking: elements) }

  private init<Scalar: MLTensorScalar>(literal: Scalar) {
    let value = MultiArray.filled(Scalar.multiArrayDataType, []) { $0.storeBytes(of: literal, as: Scalar.self) }
    self.init(value, isLiteral: true)
  }
}

/// The generator SplitMix64 of Steele, Lea and Flood, and distributions of its numbers.
private struct TensorRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64?) { state = seed ?? .random(in: 0...(.max)) }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }

  /// Returns a number of 0..<1.
  mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a number of the normal distribution with deviation 1, by the method of Box and Muller.
  mutating func normal() -> Double { (-2 * log(1 - fraction())).squareRoot() * cos(2 * .pi * fraction()) }
}
