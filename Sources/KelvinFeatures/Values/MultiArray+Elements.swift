package import KelvinGraph

extension MultiArray {
  /// The elements as float32, in row-major order.
  public var floats: [Float] { tensor.floats }

  /// The elements as float64, in row-major order.
  public var doubles: [Double] { tensor.doubles }

  /// Calls `body` with the elements' memory, for reading. It has ``count`` elements if the array is dense; otherwise it
  /// extends from the first to the last element, with the offsets that ``strides`` give.
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(memory)) }
  }

  /// Calls `body` with the elements' memory, for writing in place, and the strides in elements.
  public func withUnsafeMutableBytes<Result>(
    _ body: (_ bytes: UnsafeMutableRawBufferPointer, _ strides: [Int]) throws -> Result
  ) rethrows -> Result {
    try withExtendedLifetime(self) { try body(memory, strides) }
  }

  /// Calls `body` with the elements, for reading, at the offsets that ``strides`` give.
  ///
  /// - Precondition: `Scalar` matches the array's ``dataType``.
  public func withUnsafeBufferPointer<Scalar: ShapedArrayScalar, Result>(
    ofType type: Scalar.Type, _ body: (UnsafeBufferPointer<Scalar>) throws -> Result
  ) rethrows -> Result {
    precondition(type.multiArrayDataType == dataType, "the array holds \(dataType.rawValue), not \(type)")
    return try withExtendedLifetime(self) { try body(UnsafeBufferPointer(memory.bindMemory(to: type))) }
  }

  /// Calls `body` with the elements, for writing in place, and the strides in elements.
  ///
  /// - Precondition: `Scalar` matches the array's ``dataType``.
  public func withUnsafeMutableBufferPointer<Scalar: ShapedArrayScalar, Result>(
    ofType type: Scalar.Type,
    _ body: (_ elements: UnsafeMutableBufferPointer<Scalar>, _ strides: [Int]) throws -> Result
  ) rethrows -> Result {
    precondition(type.multiArrayDataType == dataType, "the array holds \(dataType.rawValue), not \(type)")
    return try withExtendedLifetime(self) { try body(memory.bindMemory(to: type), strides) }
  }

  /// Calls `body` with the elements in dense row-major order: the array's own memory, or a copy.
  package func withDenseBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    if isDense { return try body(UnsafeRawBufferPointer(memory)) }
    return try tensor.bytes.withUnsafeBytes(body)
  }

  /// A copy of the elements.
  package var tensor: Tensor {
    let type = TensorType(dataType.scalar, Shape(shape))
    return withExtendedLifetime(self) {
      Tensor(
        type,
        Bytes(count: type.byteCount) { target in
          if isDense {
            target.copyMemory(from: UnsafeRawBufferPointer(memory))
          } else {
            gather(into: target)
          }
        })
    }
  }

  private func gather(into target: UnsafeMutableRawBufferPointer) {
    let size = dataType.byteCount
    guard let from = memory.baseAddress, let to = target.baseAddress else { return }
    var next = 0
    StridedTraversal.forEach(shape, strides) { offset in
      (to + next).copyMemory(from: from + offset * size, byteCount: size)
      next += size
    }
  }

  /// Writes all elements from dense elements of the same type and shape.
  package func assign(_ source: UnsafeRawBufferPointer) {
    precondition(source.count == count * dataType.byteCount)
    defer { withExtendedLifetime(self) {} }
    if isDense { return memory.copyMemory(from: source) }
    let size = dataType.byteCount
    guard let from = source.baseAddress, let to = memory.baseAddress else { return }
    var next = 0
    StridedTraversal.forEach(shape, strides) { offset in
      (to + offset * size).copyMemory(from: from + next, byteCount: size)
      next += size
    }
  }

  /// Returns the first element of a floating-point array that an integer type cannot represent: a fraction, a number
  /// out of range, or NaN. Returns nil if there is none, and between types of one kind.
  package func firstElement(lostAs type: MultiArrayDataType) -> Double? {
    guard dataType.scalar.isFloatingPoint, let range = type.wholeNumbers else { return nil }
    return doubles.first { !range.contains($0) || $0 != $0.rounded(.towardZero) }
  }

  /// Copies all elements to another array. If the types differ, each element is rounded once.
  ///
  /// - Throws: `ModelError` with code `featureType` if the shapes differ.
  public func transfer(to destination: MultiArray) throws(ModelError) {
    guard destination.shape == shape else {
      throw ModelError(
        .featureType, "expected a destination of shape \(Shape(shape)), got \(Shape(destination.shape))")
    }
    let converted = tensor.converted(to: destination.dataType.scalar)
    converted.bytes.withUnsafeBytes { destination.assign($0) }
  }

  /// Concatenates arrays along an axis.
  ///
  /// - Parameters:
  ///   - arrays: at least one array. The shapes may differ only in the size of `axis`.
  ///   - axis: the axis; negative values count from the last axis.
  ///   - dataType: the element type of the result. Elements are rounded to it once.
  /// - Throws: `ModelError` with code `featureType` if the shapes do not fit or the axis does not exist.
  public convenience init(
    concatenating arrays: [MultiArray], axis: Int, dataType: MultiArrayDataType
  ) throws(ModelError) {
    guard let first = arrays.first, let axis = Shape(first.shape).normalized(axis: axis) else {
      throw ModelError(.featureType, "expected at least one array to join along axis \(axis)")
    }
    var shape = first.shape
    shape[axis] = 0
    for array in arrays {
      var other = array.shape
      if other.count == shape.count { other[axis] = shape[axis] }
      guard other == shape else {
        throw ModelError(
          .featureType,
          "arrays of shapes \(Shape(first.shape)) and \(Shape(array.shape)) cannot be joined along axis \(axis)")
      }
      shape[axis] += array.shape[axis]
    }
    try self.init(shape: shape, dataType: dataType)
    // Copies blocks of `inner` bytes per index of the axis, `outer` times.
    let inner = shape[(axis + 1)...].reduce(dataType.byteCount, *)
    let outer = shape[..<axis].reduce(1, *)
    var start = 0
    for array in arrays {
      let block = array.shape[axis] * inner
      array.tensor.converted(to: dataType.scalar).bytes.withUnsafeBytes { source in
        guard let from = source.baseAddress, let to = memory.baseAddress else { return }
        for row in 0..<outer {
          (to + row * shape[axis] * inner + start).copyMemory(from: from + row * block, byteCount: block)
        }
      }
      start += block
    }
  }
}

/// Memory offsets of elements in row-major order.
enum StridedTraversal {
  /// Returns the offset of the element with a row-major index.
  static func offset(of index: Int, _ shape: [Int], _ strides: [Int]) -> Int {
    var (index, offset) = (index, 0)
    for axis in shape.indices.reversed() where shape[axis] > 0 {
      offset += index % shape[axis] * strides[axis]
      index /= shape[axis]
    }
    return offset
  }

  static func forEach(_ shape: [Int], _ strides: [Int], _ body: (_ offset: Int) -> Void) {
    guard !shape.contains(0) else { return }
    var position = [Int](repeating: 0, count: shape.count)
    var offset = 0
    while true {
      body(offset)
      var axis = shape.count - 1
      while axis >= 0 {
        position[axis] += 1
        offset += strides[axis]
        if position[axis] < shape[axis] { break }
        offset -= shape[axis] * strides[axis]
        position[axis] = 0
        axis -= 1
      }
      if axis < 0 { return }
    }
  }
}
