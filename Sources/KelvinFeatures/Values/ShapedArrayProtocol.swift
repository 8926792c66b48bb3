import KelvinGraph

/// A number type that arrays hold.
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

/// What ``ShapedArray`` and ``ShapedArraySlice`` have in common: a collection of the slices along the first dimension.
public protocol ShapedArrayProtocol<Scalar>: RandomAccessCollection, MutableCollection, Hashable, Sendable
where Element == ShapedArraySlice<Scalar>, Index == Int {
  /// The type of the elements.
  associatedtype Scalar: ShapedArrayScalar

  /// The size of each dimension, outermost first; empty for a single number.
  var shape: [Int] { get }

  /// Elements to step over in memory to advance one position along each dimension.
  var strides: [Int] { get }

  /// An array of numbers given in row-major order.
  ///
  /// - Precondition: there are as many as `shape` has elements.
  init(scalars: some Sequence<Scalar>, shape: [Int])

  /// The part at these positions of the leading dimensions, with the dimensions that remain.
  ///
  /// - Precondition: there are no more positions than dimensions, and each lies inside its dimension. What is assigned
  ///   has the part's shape.
  subscript(indices: [Int]) -> ShapedArraySlice<Scalar> { get set }

  /// The part between these positions of the leading dimensions, as many dimensions as before.
  ///
  /// - Precondition: there are no more ranges than dimensions, and each lies inside its dimension. What is assigned has
  ///   the part's shape.
  subscript(ranges ranges: [Range<Int>]) -> ShapedArraySlice<Scalar> { get set }

  /// The number at a position.
  ///
  /// - Precondition: there is one index for each dimension, inside it.
  subscript(scalarAt indices: [Int]) -> Scalar { get set }

  /// Lends the memory. The element at position `p` lies at the sum of `p[i] * strides[i]`.
  func withUnsafeShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result

  /// Lends the memory for changes in place.
  mutating func withUnsafeMutableShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeMutableBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result
}

extension ShapedArrayProtocol {
  /// An array with one number in every place.
  public init(repeating scalar: Scalar, shape: [Int]) {
    self.init(scalars: repeatElement(scalar, count: shape.reduce(1, *)), shape: shape)
  }

  /// A single number, without dimensions.
  public init(scalar: Scalar) { self.init(scalars: CollectionOfOne(scalar), shape: []) }

  /// The numbers of a multi-array.
  ///
  /// - Precondition: `Scalar` is the array's data type; `init(converting:)` takes any.
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

  /// The numbers of a multi-array of any type, each rounded once; integers saturate.
  public init(converting multiArray: MultiArray) {
    let converted = multiArray.tensor.converted(to: Scalar.multiArrayDataType.scalar)
    self.init(MultiArray(converted))
  }

  /// Arrays joined along an axis, counted from the front or, where negative, from the back.
  ///
  /// - Precondition: there is at least one, and their shapes differ in nothing but the size of the axis.
  public init(concatenating arrays: some Sequence<some ShapedArrayProtocol<Scalar>>, alongAxis axis: Int) {
    do {
      let parts = arrays.map { MultiArray($0) }
      self.init(try MultiArray(concatenating: parts, axis: axis, dataType: Scalar.multiArrayDataType))
    } catch { preconditionFailure(error.description) }
  }

  /// The number of elements.
  public var scalarCount: Int { shape.reduce(1, *) }

  /// Whether this is a single number.
  public var isScalar: Bool { shape.isEmpty }

  /// The number, where this is a single one; nil otherwise, and setting does nothing then.
  public var scalar: Scalar? {
    get { isScalar ? self[scalarAt: []] : nil }
    set { if isScalar, let newValue { self[scalarAt: []] = newValue } }
  }

  /// Every number, in row-major order.
  ///
  /// - Precondition: what is assigned has as many.
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
  /// The size of the first dimension; 0 for a single number, which has no parts.
  public var endIndex: Int { shape.first ?? 0 }

  public subscript(position: Int) -> ShapedArraySlice<Scalar> {
    get { self[[position]] }
    set { self[[position]] = newValue }
  }

  /// The part at these positions of the leading dimensions, with the dimensions that remain.
  public subscript(indices: Int...) -> ShapedArraySlice<Scalar> {
    get { self[indices] }
    set { self[indices] = newValue }
  }

  /// The number at a position, one index for each dimension.
  public subscript(scalarAt indices: Int...) -> Scalar {
    get { self[scalarAt: indices] }
    set { self[scalarAt: indices] = newValue }
  }

  /// The part between these positions of the leading dimensions.
  public subscript(ranges ranges: Range<Int>...) -> ShapedArraySlice<Scalar> {
    get { self[ranges: ranges] }
    set { self[ranges: ranges] = newValue }
  }

  /// The same numbers in another shape.
  ///
  /// - Precondition: it has as many elements.
  public func reshaped(to shape: [Int]) -> ShapedArray<Scalar> { ShapedArray(scalars: scalars, shape: shape) }

  /// The same numbers with one more dimension, of size 1.
  ///
  /// - Precondition: `0 <= axis <= shape.count`.
  public func expandingShape(at axis: Int) -> ShapedArray<Scalar> {
    var shape = shape
    shape.insert(1, at: axis)
    return reshaped(to: shape)
  }

  /// The same numbers without the dimensions of size 1.
  public func squeezingShape() -> ShapedArray<Scalar> { reshaped(to: shape.filter { $0 != 1 }) }

  /// The numbers with the order of the dimensions reversed.
  public func transposed() -> ShapedArray<Scalar> { transposed(permutation: Array(shape.indices.reversed())) }

  /// The numbers with dimension `permutation[i]` in place `i`.
  ///
  /// - Precondition: every dimension is named once.
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

  /// Whether both have the same shape and numbers.
  public static func == (left: Self, right: Self) -> Bool {
    left.shape == right.shape && left.scalars == right.scalars
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(shape)
    hasher.combine(scalars)
  }
}

extension MultiArray {
  /// The numbers of a shaped array, copied.
  public convenience init<Array: ShapedArrayProtocol>(_ shapedArray: Array) {
    do {
      try self.init(shape: shapedArray.shape, dataType: Array.Scalar.multiArrayDataType)
    } catch { preconditionFailure("a shaped array has a shape that fits memory") }
    shapedArray.scalars.withUnsafeBytes { assign($0) }
  }
}
