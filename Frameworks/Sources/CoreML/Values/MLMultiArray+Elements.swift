public import Foundation
public import Kelvin

extension MLMultiArray {
  /// The address of the first element. It is valid as long as the array.
  public var dataPointer: UnsafeMutableRawPointer {
    guard let pointer = kelvin.dataPointer else { preconditionFailure("an array has an address") }
    return pointer
  }

  /// The element with a row-major index. Writing rounds once, and integers saturate.
  ///
  /// - Precondition: `0 <= index < count`.
  public subscript(index: Int) -> NSNumber {
    get { element(at: offset(index)) }
    set { store(newValue, at: offset(index)) }
  }

  /// The element at a position, given as one index for each dimension. Writing rounds once, and integers saturate.
  ///
  /// - Precondition: each index is within its dimension.
  public subscript(key: [NSNumber]) -> NSNumber {
    get { element(at: offset(key)) }
    set { store(newValue, at: offset(key)) }
  }

  private func offset(_ key: [NSNumber]) -> Int {
    let (shape, strides) = (kelvin.shape, kelvin.strides)
    precondition(key.count == shape.count, "\(key.count) indices for \(shape.count) dimensions")
    var offset = 0
    for axis in shape.indices {
      let index = key[axis].intValue
      precondition(index >= 0 && index < shape[axis], "index \(index) in a dimension of \(shape[axis])")
      offset += index * strides[axis]
    }
    return offset
  }

  private func offset(_ index: Int) -> Int {
    let (shape, strides) = (kelvin.shape, kelvin.strides)
    var (rest, offset) = (index, 0)
    precondition(index >= 0, "index \(index)")
    for axis in shape.indices.reversed() {
      precondition(shape[axis] > 0, "index \(index) of an empty array")
      offset += rest % shape[axis] * strides[axis]
      rest /= shape[axis]
    }
    precondition(rest == 0, "index \(index) of \(count) elements")
    return offset
  }

  private func element(at offset: Int) -> NSNumber {
    withExtendedLifetime(self) {
      switch dataType {
      case .float64: NSNumber(value: dataPointer.load(fromByteOffset: 8 * offset, as: Double.self))
      case .float32: NSNumber(value: dataPointer.load(fromByteOffset: 4 * offset, as: Float.self))
      case .float16: NSNumber(value: Float(dataPointer.load(fromByteOffset: 2 * offset, as: Float16.self)))
      case .int32: NSNumber(value: dataPointer.load(fromByteOffset: 4 * offset, as: Int32.self))
      case .int8: NSNumber(value: dataPointer.load(fromByteOffset: offset, as: Int8.self))
      }
    }
  }

  private func store(_ number: NSNumber, at offset: Int) {
    withExtendedLifetime(self) {
      switch dataType {
      case .float64: dataPointer.storeBytes(of: number.doubleValue, toByteOffset: 8 * offset, as: Double.self)
      case .float32: dataPointer.storeBytes(of: Float(number.doubleValue), toByteOffset: 4 * offset, as: Float.self)
      case .float16:
        dataPointer.storeBytes(of: Float16(number.doubleValue), toByteOffset: 2 * offset, as: Float16.self)
      case .int32: dataPointer.storeBytes(of: number.saturated(), toByteOffset: 4 * offset, as: Int32.self)
      case .int8: dataPointer.storeBytes(of: number.saturated(), toByteOffset: offset, as: Int8.self)
      }
    }
  }

  /// Calls `body` with the elements' memory, for reading.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try kelvin.withUnsafeBytes(body)
  }

  /// Calls `body` with the elements' memory, for writing in place, and the strides in elements.
  public func withUnsafeMutableBytes<R>(
    _ body: (UnsafeMutableRawBufferPointer, _ strides: [Int]) throws -> R
  ) rethrows -> R {
    try kelvin.withUnsafeMutableBytes(body)
  }

  /// Calls `body` with the elements, for reading.
  ///
  /// - Precondition: the array has elements of this type.
  public func withUnsafeBufferPointer<S: MLShapedArrayScalar, R>(
    ofType type: S.Type, _ body: (UnsafeBufferPointer<S>) throws -> R
  ) rethrows -> R {
    try kelvin.withUnsafeBufferPointer(ofType: type, body)
  }

  /// Calls `body` with the elements, for writing in place, and the strides in elements.
  ///
  /// - Precondition: the array has elements of this type.
  public func withUnsafeMutableBufferPointer<S: MLShapedArrayScalar, R>(
    ofType type: S.Type, _ body: (UnsafeMutableBufferPointer<S>, _ strides: [Int]) throws -> R
  ) rethrows -> R {
    try kelvin.withUnsafeMutableBufferPointer(ofType: type, body)
  }

  /// Calls `handler` with the address of the elements and their number of bytes, for reading.
  public func getBytesWithHandler(_ handler: (UnsafeRawPointer, Int) -> Void) {
    withUnsafeBytes { bytes in if let base = bytes.baseAddress { handler(base, bytes.count) } }
  }

  /// Calls `handler` with the address of the elements, their number of bytes and the strides, for writing in place.
  public func getMutableBytesWithHandler(_ handler: (UnsafeMutableRawPointer, Int, [NSNumber]) -> Void) {
    withUnsafeMutableBytes { bytes, _ in if let base = bytes.baseAddress { handler(base, bytes.count, strides) } }
  }

  /// Copies all elements to another array. If the types differ, each element is rounded once.
  ///
  /// - Precondition: both have the same shape.
  public func transfer(to destinationMultiArray: MLMultiArray) {
    do { try kelvin.transfer(to: destinationMultiArray.kelvin) } catch { preconditionFailure("\(error)") }
  }
}

extension NSNumber {
  /// Returns the nearest integer of a type, toward zero; 0 for NaN.
  fileprivate func saturated<Number: FixedWidthInteger>() -> Number {
    let value = doubleValue
    if value.isNaN { return 0 }
    return Number(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }
}
