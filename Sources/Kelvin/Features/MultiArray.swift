package import KelvinGraph

/// The element type of a `MultiArray`.
public enum MultiArrayDataType: String, Hashable, Sendable {
  case float64, float32, float16, int32, int64, int16, int8, uint8, bool

  var scalar: ScalarType { ScalarType(rawValue: rawValue) ?? .float32 }

  init?(_ scalar: ScalarType) { self.init(rawValue: scalar.rawValue) }
}

/// A dense, row-major array of numbers with any number of dimensions. A value: copies do not share changes.
public struct MultiArray: Hashable, Sendable {
  public let dataType: MultiArrayDataType
  /// The size of each dimension, outermost first.
  public let shape: [Int]
  private var bytes: [UInt8]

  /// An array of zeros.
  ///
  /// - Throws: `ModelError` with code `featureType` for a negative size or more elements than memory can hold.
  public init(shape: [Int], dataType: MultiArrayDataType) throws(ModelError) {
    guard Shape(shape).isAddressable else {
      throw ModelError(
        .featureType, "a multi-array of shape \(Shape(shape)) cannot be: sizes must be at least 0 and fit memory")
    }
    self.shape = shape
    self.dataType = dataType
    bytes = [UInt8](repeating: 0, count: Shape(shape).count * dataType.scalar.byteCount)
  }

  /// A float32 array of these elements, in row-major order.
  ///
  /// - Throws: `ModelError` with code `featureType` where their number is not that of the shape.
  public init(_ elements: [Float], shape: [Int]) throws(ModelError) {
    try self.init(shape: shape, dataType: .float32)
    guard elements.count == count else {
      throw ModelError(
        .featureType, "a multi-array of shape \(Shape(shape)) has \(count) elements, got \(elements.count)")
    }
    bytes = elements.withUnsafeBytes { Array($0) }
  }

  package init?(_ tensor: Tensor) {
    guard let dataType = MultiArrayDataType(tensor.type.scalar) else { return nil }
    self.dataType = dataType
    shape = tensor.shape.dimensions
    bytes = tensor.bytes.withUnsafeBytes { Array($0) }
  }

  /// The number of elements.
  public var count: Int { Shape(shape).count }

  /// Elements to step over to advance one position along each dimension.
  public var strides: [Int] { Shape(shape).strides }

  /// An element by its position, one index for each dimension. Reading converts to float64; writing rounds once.
  ///
  /// - Precondition: the position lies inside the array.
  public subscript(position: [Int]) -> Double {
    get { self[offset(position)] }
    set { self[offset(position)] = newValue }
  }

  /// An element by its place in row-major order.
  ///
  /// - Precondition: `0 <= index < count`.
  public subscript(index: Int) -> Double {
    get {
      precondition(index >= 0 && index < count, "element \(index) of \(count)")
      let size = dataType.scalar.byteCount
      let part = Array(bytes[index * size..<(index + 1) * size])
      return Tensor(TensorType(dataType.scalar, []), Bytes(part)).doubles[0]
    }
    set {
      precondition(index >= 0 && index < count, "element \(index) of \(count)")
      let size = dataType.scalar.byteCount
      bytes.withUnsafeMutableBytes { raw in
        let part = UnsafeMutableRawBufferPointer(rebasing: raw[index * size..<(index + 1) * size])
        Tensor.store([newValue], as: dataType.scalar, in: part)
      }
    }
  }

  /// Every element as a float32, in row-major order.
  public var floats: [Float] { tensor.floats }

  /// Every element as a float64, in row-major order.
  public var doubles: [Double] { tensor.doubles }

  /// The elements' memory: dense, row-major, `count` elements of `dataType`.
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }

  /// The elements' memory, to be changed in place.
  public mutating func withUnsafeMutableBytes<Result>(
    _ body: (UnsafeMutableRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeMutableBytes(body)
  }

  private func offset(_ position: [Int]) -> Int {
    precondition(
      position.count == shape.count && zip(position, shape).allSatisfy { $0 >= 0 && $0 < $1 },
      "position \(position) in a multi-array of shape \(shape)")
    return zip(position, strides).reduce(0) { $0 + $1.0 * $1.1 }
  }

  package var tensor: Tensor { Tensor(TensorType(dataType.scalar, Shape(shape)), Bytes(bytes)) }
}
