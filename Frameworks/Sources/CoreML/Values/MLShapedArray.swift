public import Foundation
public import Kelvin

/// A multi-dimensional array of numbers with value semantics: Kelvin's `ShapedArray`.
public typealias MLShapedArray<Scalar: ShapedArrayScalar> = ShapedArray<Scalar>
/// A part of a shaped array: Kelvin's `ShapedArraySlice`.
public typealias MLShapedArraySlice<Scalar: ShapedArrayScalar> = ShapedArraySlice<Scalar>
/// A number type for the elements of arrays: Kelvin's `ShapedArrayScalar`.
public typealias MLShapedArrayScalar = ShapedArrayScalar
/// The common interface of shaped arrays and their slices: Kelvin's `ShapedArrayProtocol`.
public typealias MLShapedArrayProtocol = ShapedArrayProtocol

extension ShapedArrayProtocol {
  /// Creates an array from the numbers of a multi-array.
  ///
  /// - Precondition: `Scalar` matches the array's data type; `init(converting:)` accepts any type.
  public init(_ multiArray: MLMultiArray) { self.init(multiArray.kelvin) }

  /// Creates an array from the numbers of a multi-array of any type. Each number is rounded once, and integers saturate.
  public init(converting multiArray: MLMultiArray) { self.init(converting: multiArray.kelvin) }

  /// Creates an array from a copy of bytes in row-major order.
  ///
  /// - Precondition: there are as many bytes as the shape needs.
  public init(data: Data, shape: [Int]) {
    let count = shape.reduce(1, *)
    precondition(
      data.count == count * MemoryLayout<Scalar>.stride, "\(data.count) bytes for \(count) elements of \(Scalar.self)")
    let scalars = [Scalar](unsafeUninitializedCapacity: count) { target, initialized in
      data.copyBytes(to: UnsafeMutableRawBufferPointer(target))
      initialized = count
    }
    self.init(scalars: scalars, shape: shape)
  }

  /// Creates an array from a copy of numbers in row-major order. Despite its name it copies, and releases them at once.
  public init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], deallocator: Data.Deallocator) {
    let count = shape.reduce(1, *)
    self.init(bytesNoCopy: bytes, count: count, deallocator: deallocator) { scalars in
      Self(scalars: scalars, shape: shape)
    }
  }

  /// Creates an array from a copy of numbers with the given strides, in elements. Despite its name it copies, and
  /// releases the numbers at once.
  ///
  /// - Precondition: there is a stride of at least 0 for each dimension.
  public init(bytesNoCopy bytes: UnsafeRawPointer, shape: [Int], strides: [Int], deallocator: Data.Deallocator) {
    precondition(strides.count == shape.count && strides.allSatisfy { $0 >= 0 }, "strides \(strides) of \(shape)")
    let last = shape.contains(0) ? -1 : zip(shape, strides).reduce(0) { $0 + ($1.0 - 1) * $1.1 }
    self.init(bytesNoCopy: bytes, count: last + 1, deallocator: deallocator) { elements in
      var scalars: [Scalar] = []
      scalars.reserveCapacity(shape.reduce(1, *))
      func append(_ axis: Int, _ offset: Int) {
        guard axis < shape.count else { return scalars.append(elements[offset]) }
        for index in 0..<shape[axis] { append(axis + 1, offset + index * strides[axis]) }
      }
      append(0, 0)
      return Self(scalars: scalars, shape: shape)
    }
  }

  private init(
    bytesNoCopy bytes: UnsafeRawPointer, count: Int, deallocator: Data.Deallocator,
    _ make: (UnsafeBufferPointer<Scalar>) -> Self
  ) {
    self = make(UnsafeBufferPointer(start: bytes.assumingMemoryBound(to: Scalar.self), count: count))
    // The deallocator runs when this value is released.
    _ = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), count: count * MemoryLayout<Scalar>.stride,
      deallocator: deallocator)
  }

  /// The slice within ranges of the leading dimensions: `array[0..<2, 1...]`. It has as many dimensions as the array.
  ///
  /// - Precondition: there are no more ranges than dimensions, and each range is within its dimension.
  public subscript(
    first: any MLShapedArrayRangeExpression, second: any MLShapedArrayRangeExpression,
    others: any MLShapedArrayRangeExpression...
  ) -> ShapedArraySlice<Scalar> {
    get { self[ranges: ranges([first, second] + others)] }
    set { self[ranges: ranges([first, second] + others)] = newValue }
  }

  private func ranges(_ expressions: [any MLShapedArrayRangeExpression]) -> [Range<Int>] {
    precondition(expressions.count <= shape.count, "\(expressions.count) ranges for \(shape.count) dimensions")
    return zip(expressions, shape).map { $0.range(within: $1) }
  }
}

/// A range of positions along a dimension.
public protocol MLShapedArrayRangeExpression {
  /// Returns the range within a dimension of a size.
  func range(within size: Int) -> Range<Int>
}

extension MLShapedArrayRangeExpression where Self: RangeExpression<Int> {
  public func range(within size: Int) -> Range<Int> { relative(to: 0..<size) }
}

extension Range: MLShapedArrayRangeExpression where Bound == Int {}
extension ClosedRange: MLShapedArrayRangeExpression where Bound == Int {}
extension PartialRangeFrom: MLShapedArrayRangeExpression where Bound == Int {}
extension PartialRangeThrough: MLShapedArrayRangeExpression where Bound == Int {}
extension PartialRangeUpTo: MLShapedArrayRangeExpression where Bound == Int {}
