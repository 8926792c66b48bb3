package import KelvinGraph

/// A multi-dimensional array of numbers with reference semantics, like Core ML's `MLMultiArray`.
///
/// All holders of the array see its changes, and a prediction can write into it (``PredictionOptions/outputBackings``).
/// An array must not be written while a prediction or another task reads it. ``ShapedArray`` is the equivalent with
/// value semantics.
public final class MultiArray: @unchecked Sendable {
  /// The type of the elements.
  public let dataType: MultiArrayDataType
  /// The size of each dimension, outermost first.
  public let shape: [Int]
  /// The number of elements between neighboring positions along each dimension.
  public let strides: [Int]
  /// The memory of all elements, including gaps that strides leave.
  package let memory: UnsafeMutableRawBufferPointer
  private let deallocator: () -> Void

  /// Creates a dense row-major array of zeros.
  ///
  /// - Throws: `ModelError` with code `featureType` for a negative size or more elements than memory can contain.
  public convenience init(shape: [Int], dataType: MultiArrayDataType) throws(ModelError) {
    try Self.check(shape)
    self.init(TensorType(dataType.scalar, Shape(shape)), copying: nil)
  }

  /// Creates an array of zeros with the given strides.
  ///
  /// - Parameters:
  ///   - shape: the size of each dimension, outermost first.
  ///   - dataType: the type of the elements.
  ///   - strides: the number of elements between neighboring positions along each dimension, at least 0.
  /// - Throws: `ModelError` with code `featureType` for a negative size or stride, a number of strides that differs
  ///   from the number of sizes, or more elements than memory can contain.
  public convenience init(shape: [Int], dataType: MultiArrayDataType, strides: [Int]) throws(ModelError) {
    let byteCount = try Self.extent(shape, strides) * dataType.byteCount
    let memory = Self.allocate(byteCount)
    self.init(memory, shape, dataType, strides) { memory.deallocate() }
  }

  /// Creates an array over the caller's memory, without a copy.
  ///
  /// - Parameters:
  ///   - dataPointer: the first element, aligned for its type. It stays valid until `deallocator` is called.
  ///   - shape: the size of each dimension, outermost first.
  ///   - dataType: the type of the elements.
  ///   - strides: the number of elements between neighboring positions along each dimension; nil for dense row-major
  ///     order.
  ///   - deallocator: called with the pointer when the array is released.
  /// - Throws: `ModelError` with code `featureType` for an invalid shape or strides, or a pointer that is not aligned.
  ///   The deallocator is then not called.
  public convenience init(
    dataPointer: UnsafeMutableRawPointer, shape: [Int], dataType: MultiArrayDataType, strides: [Int]? = nil,
    deallocator: (@Sendable (UnsafeMutableRawPointer) -> Void)? = nil
  ) throws(ModelError) {
    try Self.check(shape)
    let strides = strides ?? Shape(shape).strides
    let byteCount = try Self.extent(shape, strides) * dataType.byteCount
    guard Int(bitPattern: dataPointer) % dataType.byteCount == 0 else {
      throw ModelError(
        .featureType, "the memory of a \(dataType.rawValue) array starts at a multiple of \(dataType.byteCount) bytes")
    }
    let memory = UnsafeMutableRawBufferPointer(start: dataPointer, count: byteCount)
    self.init(memory, shape, dataType, strides) { deallocator?(dataPointer) }
  }

  /// Creates a float32 array from elements in row-major order.
  ///
  /// - Throws: `ModelError` with code `featureType` if the number of elements does not match the shape.
  public convenience init(_ elements: [Float], shape: [Int]) throws(ModelError) {
    try Self.check(shape)
    guard elements.count == Shape(shape).count else {
      throw ModelError(
        .featureType,
        "a multi-array of shape \(Shape(shape)) has \(Shape(shape).count) elements, got \(elements.count)")
    }
    self.init(TensorType(.float32, Shape(shape)), copying: elements.withUnsafeBytes { Bytes(copying: $0) })
  }

  package convenience init(_ tensor: Tensor) { self.init(tensor.type, copying: tensor.bytes) }

  /// Creates a dense array.
  ///
  /// - Parameter fill: a closure that writes all elements.
  package convenience init(_ type: TensorType, fill: (UnsafeMutableRawBufferPointer) -> Void) {
    self.init(type, copying: nil)
    fill(memory)
  }

  private convenience init(_ type: TensorType, copying bytes: Bytes?) {
    let memory = Self.allocate(type.byteCount)
    bytes?.withUnsafeBytes { memory.copyMemory(from: $0) }
    self.init(memory, type.shape.dimensions, MultiArrayDataType(type.scalar), type.shape.strides) {
      memory.deallocate()
    }
  }

  private init(
    _ memory: UnsafeMutableRawBufferPointer, _ shape: [Int], _ dataType: MultiArrayDataType, _ strides: [Int],
    _ deallocator: @escaping () -> Void
  ) {
    self.memory = memory
    self.shape = shape
    self.dataType = dataType
    self.strides = strides
    self.deallocator = deallocator
  }

  deinit { deallocator() }

  private static func allocate(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
    if byteCount > 0 { memory.initializeMemory(as: UInt8.self, repeating: 0) }
    return memory
  }

  private static func check(_ shape: [Int]) throws(ModelError) {
    guard Shape(shape).isAddressable else {
      throw ModelError(
        .featureType, "a multi-array of shape \(Shape(shape)) is not valid: sizes must be at least 0 and fit memory")
    }
  }

  /// Returns the number of elements of memory from the first to the last element, inclusive.
  private static func extent(_ shape: [Int], _ strides: [Int]) throws(ModelError) -> Int {
    try check(shape)
    guard strides.count == shape.count, strides.allSatisfy({ $0 >= 0 }) else {
      throw ModelError(
        .featureType,
        "strides \(strides) do not fit a multi-array of shape \(Shape(shape)): one a dimension, at least 0")
    }
    if shape.contains(0) { return 0 }
    var last = 0
    for (size, stride) in zip(shape, strides) {
      let (step, overflow) = (size - 1).multipliedReportingOverflow(by: stride)
      let (sum, overflows) = last.addingReportingOverflow(step)
      guard !overflow, !overflows, sum < 1 << 37 else {
        throw ModelError(.featureType, "a multi-array with strides \(strides) does not fit memory")
      }
      last = sum
    }
    return last + 1
  }

  /// The number of elements.
  public var count: Int { Shape(shape).count }

  /// The address of the first element.
  public var dataPointer: UnsafeMutableRawPointer? { memory.baseAddress }

  /// Whether the elements lie in row-major order without gaps.
  package var isDense: Bool { strides == Shape(shape).strides || count == 0 }

  /// The element at a position, given as one index for each dimension. Reading converts to float64. Writing rounds
  /// once, and integers saturate.
  ///
  /// - Precondition: each index is within its dimension.
  public subscript(position: [Int]) -> Double {
    get { self[element: offset(position)] }
    set { self[element: offset(position)] = newValue }
  }

  /// The element with a row-major index.
  ///
  /// - Precondition: `0 <= index < count`.
  public subscript(index: Int) -> Double {
    get { self[element: offset(index)] }
    set { self[element: offset(index)] = newValue }
  }

  private subscript(element offset: Int) -> Double {
    get {
      let type = TensorType(dataType.scalar, [])
      let part = UnsafeRawBufferPointer(
        rebasing: memory[offset * dataType.byteCount..<(offset + 1) * dataType.byteCount])
      return Tensor(type, Bytes(copying: part)).doubles[0]
    }
    set {
      let part = UnsafeMutableRawBufferPointer(
        rebasing: memory[offset * dataType.byteCount..<(offset + 1) * dataType.byteCount])
      Tensor.store([newValue], as: dataType.scalar, in: part)
    }
  }

  private func offset(_ position: [Int]) -> Int {
    precondition(
      position.count == shape.count && zip(position, shape).allSatisfy { $0 >= 0 && $0 < $1 },
      "position \(position) in a multi-array of shape \(shape)")
    return zip(position, strides).reduce(0) { $0 + $1.0 * $1.1 }
  }

  private func offset(_ index: Int) -> Int {
    precondition(index >= 0 && index < count, "element \(index) of \(count)")
    return isDense ? index : StridedTraversal.offset(of: index, shape, strides)
  }
}

extension MultiArray: Hashable {
  /// Returns whether both arrays have the same type, shape and elements; strides do not matter.
  public static func == (left: MultiArray, right: MultiArray) -> Bool {
    if left === right { return true }
    guard left.dataType == right.dataType, left.shape == right.shape else { return false }
    return left.withDenseBytes { left in right.withDenseBytes { left.elementsEqual($0) } }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(dataType)
    hasher.combine(shape)
    withDenseBytes { hasher.combine(bytes: $0) }
  }
}
