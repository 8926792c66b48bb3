/// A multi-dimensional array of numbers with value semantics: copies do not share changes. ``MultiArray`` is the
/// equivalent with reference semantics.
///
/// ```swift
/// var matrix = ShapedArray<Float>(scalars: (0..<6).map(Float.init), shape: [2, 3])
/// matrix[scalarAt: 1, 2] = 10
/// let row = matrix[1]  // a slice of shape [3]
/// ```
public struct ShapedArray<Scalar: ShapedArrayScalar>: ShapedArrayProtocol {
  /// The slices along the first dimension.
  public typealias Element = ShapedArraySlice<Scalar>
  /// A position along the first dimension, from 0.
  public typealias Index = Int
  /// The positions along the first dimension.
  public typealias Indices = Range<Int>
  /// A range of slices along the first dimension.
  public typealias SubSequence = ShapedArraySlice<Scalar>

  private var elements: StridedElements<Scalar>

  /// Creates an array from numbers in row-major order.
  ///
  /// - Precondition: the number of scalars matches the shape.
  public init(scalars: some Sequence<Scalar>, shape: [Int]) {
    elements = StridedElements(Array(scalars), shape: shape)
  }

  /// Creates an array from a copy of a slice's numbers.
  public init(_ slice: ShapedArraySlice<Scalar>) { self.init(scalars: slice.scalars, shape: slice.shape) }

  /// Creates an array whose memory `initializer` fills.
  ///
  /// - Parameters:
  ///   - shape: the size of each dimension, outermost first.
  ///   - initializer: writes every element. It gets the memory and the strides, which are those of row-major order.
  public init(
    unsafeUninitializedShape shape: [Int],
    initializingWith initializer: (_ elements: UnsafeMutableBufferPointer<Scalar>, _ strides: [Int]) throws -> Void
  ) rethrows {
    let count = shape.reduce(1, *)
    let strides = StridedElements<Scalar>.strides(of: shape)
    let scalars = try [Scalar](unsafeUninitializedCapacity: count) { buffer, initialized in
      try initializer(UnsafeMutableBufferPointer(rebasing: buffer[..<count]), strides)
      initialized = count
    }
    elements = StridedElements(scalars, shape: shape)
  }

  public var shape: [Int] { elements.shape }
  public var strides: [Int] { elements.strides }

  public subscript(indices: [Int]) -> ShapedArraySlice<Scalar> {
    get { ShapedArraySlice(elements.part(at: indices)) }
    set { elements.assign(newValue.elements, to: elements.part(at: indices)) }
  }

  public subscript(ranges ranges: [Range<Int>]) -> ShapedArraySlice<Scalar> {
    get { ShapedArraySlice(elements.part(between: ranges)) }
    set { elements.assign(newValue.elements, to: elements.part(between: ranges)) }
  }

  public subscript(scalarAt indices: [Int]) -> Scalar {
    get { elements[indices] }
    set { elements[indices] = newValue }
  }

  public func withUnsafeShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result {
    try elements.withBuffer(body)
  }

  public mutating func withUnsafeMutableShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeMutableBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result {
    try elements.withMutableBuffer(body)
  }
}

/// A part of a ``ShapedArray``. It shares the array's memory until either changes.
///
/// Like other slices, `array[2..<4]` has the array's positions along the first dimension: 2 and 3. Lists of indices,
/// as in `slice[scalarAt: 0, 1]`, begin at 0.
public struct ShapedArraySlice<Scalar: ShapedArrayScalar>: ShapedArrayProtocol {
  /// The slices along the first dimension.
  public typealias Element = ShapedArraySlice<Scalar>
  /// A position along the first dimension, from 0.
  public typealias Index = Int
  /// The positions along the first dimension.
  public typealias Indices = Range<Int>
  /// A range of slices along the first dimension.
  public typealias SubSequence = ShapedArraySlice<Scalar>

  fileprivate private(set) var elements: StridedElements<Scalar>
  /// The position of the first slice along the first dimension: 2 for `array[2..<4]`, else 0.
  public internal(set) var startIndex = 0

  fileprivate init(_ elements: StridedElements<Scalar>) { self.elements = elements }

  /// Creates a slice with memory of its own from numbers in row-major order.
  ///
  /// - Precondition: the number of scalars matches the shape.
  public init(scalars: some Sequence<Scalar>, shape: [Int]) {
    elements = StridedElements(Array(scalars), shape: shape)
  }

  public var shape: [Int] { elements.shape }
  public var strides: [Int] { elements.strides }

  public subscript(indices: [Int]) -> ShapedArraySlice<Scalar> {
    get { ShapedArraySlice(elements.part(at: indices)) }
    set { elements.assign(newValue.elements, to: elements.part(at: indices)) }
  }

  public subscript(ranges ranges: [Range<Int>]) -> ShapedArraySlice<Scalar> {
    get { ShapedArraySlice(elements.part(between: ranges)) }
    set { elements.assign(newValue.elements, to: elements.part(between: ranges)) }
  }

  public subscript(scalarAt indices: [Int]) -> Scalar {
    get { elements[indices] }
    set { elements[indices] = newValue }
  }

  public func withUnsafeShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result {
    try elements.withBuffer(body)
  }

  public mutating func withUnsafeMutableShapedBufferPointer<Result>(
    _ body: (_ elements: UnsafeMutableBufferPointer<Scalar>, _ shape: [Int], _ strides: [Int]) throws -> Result
  ) rethrows -> Result {
    try elements.withMutableBuffer(body)
  }
}

/// Elements of an array, addressed by an offset and strides.
private struct StridedElements<Scalar: ShapedArrayScalar>: Sendable {
  var storage: [Scalar]
  var offset: Int
  var shape: [Int]
  var strides: [Int]

  init(_ storage: [Scalar], shape: [Int]) {
    precondition(shape.allSatisfy { $0 >= 0 }, "sizes are at least 0, got \(shape)")
    let count = shape.reduce(1, *)
    precondition(storage.count == count, "an array of shape \(shape) has \(count) elements, got \(storage.count)")
    self.storage = storage
    offset = 0
    self.shape = shape
    strides = Self.strides(of: shape)
  }

  /// Returns the strides of row-major order.
  static func strides(of shape: [Int]) -> [Int] {
    var strides = [Int](repeating: 1, count: shape.count)
    for axis in shape.indices.dropLast().reversed() { strides[axis] = strides[axis + 1] * shape[axis + 1] }
    return strides
  }

  private func offset(_ indices: [Int]) -> Int {
    precondition(
      indices.count <= shape.count && zip(indices, shape).allSatisfy { $0 >= 0 && $0 < $1 },
      "position \(indices) in an array of shape \(shape)")
    return zip(indices, strides).reduce(offset) { $0 + $1.0 * $1.1 }
  }

  subscript(indices: [Int]) -> Scalar {
    get {
      precondition(indices.count == shape.count, "\(indices.count) indices for \(shape.count) dimensions")
      return storage[offset(indices)]
    }
    set {
      precondition(indices.count == shape.count, "\(indices.count) indices for \(shape.count) dimensions")
      storage[offset(indices)] = newValue
    }
  }

  func part(at indices: [Int]) -> Self {
    var part = self
    part.offset = offset(indices)
    part.shape.removeFirst(indices.count)
    part.strides.removeFirst(indices.count)
    return part
  }

  func part(between ranges: [Range<Int>]) -> Self {
    precondition(
      ranges.count <= shape.count && zip(ranges, shape).allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= $1 },
      "ranges \(ranges) in an array of shape \(shape)")
    var part = self
    for (axis, range) in ranges.enumerated() {
      part.offset += range.lowerBound * strides[axis]
      part.shape[axis] = range.count
    }
    return part
  }

  /// Writes elements to a part of this array.
  mutating func assign(_ source: Self, to part: Self) {
    precondition(source.shape == part.shape, "expected a slice of shape \(part.shape), got \(source.shape)")
    var offsets: [Int] = []
    StridedTraversal.forEach(part.shape, part.strides) { offsets.append(part.offset + $0) }
    var next = 0
    StridedTraversal.forEach(source.shape, source.strides) {
      storage[offsets[next]] = source.storage[source.offset + $0]
      next += 1
    }
  }

  func withBuffer<Result>(
    _ body: (UnsafeBufferPointer<Scalar>, [Int], [Int]) throws -> Result
  ) rethrows -> Result {
    try storage.withUnsafeBufferPointer {
      try body(UnsafeBufferPointer(rebasing: $0[min(offset, $0.count)...]), shape, strides)
    }
  }

  mutating func withMutableBuffer<Result>(
    _ body: (UnsafeMutableBufferPointer<Scalar>, [Int], [Int]) throws -> Result
  ) rethrows -> Result {
    let (offset, shape, strides) = (offset, shape, strides)
    return try storage.withUnsafeMutableBufferPointer {
      try body(UnsafeMutableBufferPointer(rebasing: $0[min(offset, $0.count)...]), shape, strides)
    }
  }
}
