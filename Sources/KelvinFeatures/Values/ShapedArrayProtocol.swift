import KelvinGraph

/// A number type for the elements of arrays.
public protocol ShapedArrayScalar: BitwiseCopyable, Hashable, Sendable {
  /// The element type of a ``MultiArray`` of these numbers.
  static var multiArrayDataType: MultiArrayDataType { get }
}

extension Float: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .float32 } }
extension Double: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .float64 } }
extension Float16: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .float16 } }
extension Int8: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .int8 } }
extension Int16: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .int16 } }
extension Int32: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .int32 } }
extension Int64: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .int64 } }
extension UInt8: ShapedArrayScalar { public static var multiArrayDataType: MultiArrayDataType { .uint8 } }

/// The common interface of ``ShapedArray`` and ``ShapedArraySlice``: a collection of the slices along the first
/// dimension.
public protocol ShapedArrayProtocol<Scalar>: RandomAccessCollection, MutableCollection, Hashable, Sendable
where Element == ShapedArraySlice<Scalar>, Index == Int {
  /// The type of the elements.
  associatedtype Scalar: ShapedArrayScalar

  /// The size of each dimension, outermost first; empty for a scalar.
  var shape: [Int] { get }

  /// The number of elements in memory between neighboring positions along each dimension.
  var strides: [Int] { get }

  /// Creates an array from numbers in row-major order.
  ///
  /// - Precondition: the number of scalars matches the shape.
  init(scalars: some Sequence<Scalar>, shape: [Int])

  /// The slice at these indices of the leading dimensions, with the remaining dimensions.
  ///
  /// - Precondition: there are no more indices than dimensions, and each index is within its dimension. An assigned
  ///   slice has the same shape.
  subscript(indices: [Int]) -> ShapedArraySlice<Scalar> { get set }

  /// The slice within these ranges of the leading dimensions. It has as many dimensions as the array.
  ///
  /// - Precondition: there are no more ranges than dimensions, and each range is within its dimension. An assigned
  ///   slice has the same shape.
  subscript(ranges ranges: [Range<Int>]) -> ShapedArraySlice<Scalar> { get set }

  /// The number at a position.
  ///
  /// - Precondition: there is one index for each dimension, and each index is within its dimension.
  subscript(scalarAt indices: [Int]) -> Scalar { get set }

  /// Calls `body` with the memory. The element at position `p` has the offset of the sum of `p[i] * strides[i]`.
  func withUnsafeShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result

  /// Calls `body` with the memory, for changes in place.
  mutating func withUnsafeMutableShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeMutableBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result
}

extension ShapedArrayProtocol {
  /// Creates an array of one dimension without elements.
  public init() { self.init(scalars: [], shape: [0]) }

  /// Creates an array in which every element has the same value.
  public init(repeating scalar: Scalar, shape: [Int]) {
    self.init(scalars: repeatElement(scalar, count: shape.reduce(1, *)), shape: shape)
  }

  /// Creates a scalar: an array without dimensions.
  public init(scalar: Scalar) { self.init(scalars: CollectionOfOne(scalar), shape: []) }

  /// Creates an array from the numbers of a multi-array.
  ///
  /// - Precondition: `Scalar` matches the array's data type; `init(converting:)` accepts any type.
  public init(_ multiArray: MultiArray) {
    precondition(
      multiArray.dataType == Scalar.multiArrayDataType,
      "the array holds \(multiArray.dataType.rawValue), not \(Scalar.self)")
    let scalars = multiArray.withDenseBytes { bytes in
      [Scalar](unsafeUninitializedCapacity: multiArray.count) { target, initialized in
        UnsafeMutableRawBufferPointer(target).copyMemory(from: bytes)
        initialized = multiArray.count
      }
    }
    self.init(scalars: scalars, shape: multiArray.shape)
  }

  /// Creates an array from the numbers of a multi-array of any type. Each number is rounded once, and integers
  /// saturate.
  public init(converting multiArray: MultiArray) {
    let converted = multiArray.tensor.converted(to: Scalar.multiArrayDataType.scalar)
    self.init(MultiArray(converted))
  }

  /// Creates an array from numbers of another type. Each number is rounded once, and integers saturate.
  public init(converting other: some ShapedArrayProtocol) { self.init(converting: MultiArray(other)) }

  /// Concatenates arrays along an axis. A negative axis counts from the last axis.
  ///
  /// - Precondition: there is at least one array, and the shapes differ only in the size of the axis.
  public init(concatenating arrays: some Sequence<some ShapedArrayProtocol<Scalar>>, alongAxis axis: Int) {
    do {
      let parts = arrays.map { MultiArray($0) }
      self.init(try MultiArray(concatenating: parts, axis: axis, dataType: Scalar.multiArrayDataType))
    } catch { preconditionFailure(error.description) }
  }

  /// The number of elements.
  public var scalarCount: Int { shape.reduce(1, *) }

  /// Whether the array is a scalar, without dimensions.
  public var isScalar: Bool { shape.isEmpty }

  /// The number of a scalar; nil for other arrays, for which setting it does nothing.
  public var scalar: Scalar? {
    get { isScalar ? self[scalarAt: []] : nil }
    set { if isScalar, let newValue { self[scalarAt: []] = newValue } }
  }

  /// The numbers, in row-major order.
  ///
  /// - Precondition: an assigned array has the same number of elements.
  public var scalars: [Scalar] {
    get {
      withUnsafeShapedBufferPointer { elements, shape, strides in
        var scalars: [Scalar] = []
        scalars.reserveCapacity(scalarCount)
        StridedTraversal.forEach(shape, strides) { scalars.append(elements[$0]) }
        return scalars
      }
    }
    set {
      precondition(newValue.count == scalarCount, "\(scalarCount) elements, got \(newValue.count)")
      withUnsafeMutableShapedBufferPointer { elements, shape, strides in
        var next = newValue.startIndex
        StridedTraversal.forEach(shape, strides) {
          elements[$0] = newValue[next]
          next += 1
        }
      }
    }
  }

  public var startIndex: Int { 0 }
  /// The size of the first dimension after `startIndex`; a scalar has no slices.
  public var endIndex: Int { startIndex + (shape.first ?? 0) }

  public subscript(position: Int) -> ShapedArraySlice<Scalar> {
    get { self[[position - startIndex]] }
    set { self[[position - startIndex]] = newValue }
  }

  /// The slices at these positions along the first dimension, as one slice with as many dimensions as the array.
  ///
  /// - Precondition: the positions are within `indices`. An assigned slice has the same shape.
  public subscript(bounds: Range<Int>) -> ShapedArraySlice<Scalar> {
    get {
      var slice = self[ranges: [bounds.lowerBound - startIndex..<bounds.upperBound - startIndex]]
      slice.startIndex = bounds.lowerBound
      return slice
    }
    set { self[ranges: [bounds.lowerBound - startIndex..<bounds.upperBound - startIndex]] = newValue }
  }

  /// The slice at these indices of the leading dimensions, with the remaining dimensions.
  public subscript(indices: Int...) -> ShapedArraySlice<Scalar> {
    get { self[indices] }
    set { self[indices] = newValue }
  }

  /// The number at a position, given as one index for each dimension.
  public subscript(scalarAt indices: Int...) -> Scalar {
    get { self[scalarAt: indices] }
    set { self[scalarAt: indices] = newValue }
  }

  /// The slice within these ranges of the leading dimensions.
  public subscript(ranges ranges: Range<Int>...) -> ShapedArraySlice<Scalar> {
    get { self[ranges: ranges] }
    set { self[ranges: ranges] = newValue }
  }

  /// Returns the same numbers in another shape.
  ///
  /// - Precondition: the shape has the same number of elements.
  public func reshaped(to shape: [Int]) -> ShapedArray<Scalar> { ShapedArray(scalars: scalars, shape: shape) }

  /// Returns the same numbers with one more dimension of size 1.
  ///
  /// - Precondition: `0 <= axis <= shape.count`.
  public func expandingShape(at axis: Int) -> ShapedArray<Scalar> {
    var shape = shape
    shape.insert(1, at: axis)
    return reshaped(to: shape)
  }

  /// Returns the same numbers without the dimensions of size 1.
  public func squeezingShape() -> ShapedArray<Scalar> { reshaped(to: shape.filter { $0 != 1 }) }

  /// Returns the array with the order of its dimensions reversed.
  public func transposed() -> ShapedArray<Scalar> { transposed(permutation: Array(shape.indices.reversed())) }

  /// Returns the array with dimension `permutation[i]` as dimension `i`.
  ///
  /// - Precondition: `permutation` contains every dimension once.
  public func transposed(permutation: [Int]) -> ShapedArray<Scalar> {
    precondition(
      permutation.sorted() == Array(shape.indices), "\(permutation) is not an order of \(shape.count) dimensions")
    let newShape = permutation.map { shape[$0] }
    return withUnsafeShapedBufferPointer { elements, _, strides in
      var scalars: [Scalar] = []
      scalars.reserveCapacity(scalarCount)
      StridedTraversal.forEach(newShape, permutation.map { strides[$0] }) { scalars.append(elements[$0]) }
      return ShapedArray(scalars: scalars, shape: newShape)
    }
  }

  /// Returns whether both have the same shape and numbers.
  public static func == (left: Self, right: Self) -> Bool {
    left.shape == right.shape && left.scalars == right.scalars
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(shape)
    hasher.combine(scalars)
  }
}

extension MultiArray {
  /// Creates a multi-array from a copy of a shaped array's numbers.
  public convenience init<Array: ShapedArrayProtocol>(_ shapedArray: Array) {
    do {
      try self.init(shape: shapedArray.shape, dataType: Array.Scalar.multiArrayDataType)
    } catch { preconditionFailure("a shaped array has a shape that fits memory") }
    shapedArray.scalars.withUnsafeBytes { assign($0) }
  }
}
