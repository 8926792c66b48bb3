public import CoreVideo
public import Foundation
public import Kelvin

/// A multi-dimensional array of numbers: a class, whose holders all see changes.
///
/// Every array wraps one of Kelvin's, `kelvin`, which has the same memory. An array must not be written while a
/// prediction or another thread reads it.
public final class MLMultiArray: NSObject, @unchecked Sendable {
  /// Kelvin's array, which has the same memory.
  public let kelvin: MultiArray
  /// The type of the elements.
  public let dataType: MLMultiArrayDataType
  /// The buffer that holds the elements; nil for other arrays.
  public let pixelBuffer: CVPixelBuffer?

  /// Creates an array over one of Kelvin's. Elements of a type that Core ML does not have are copied to int32, and
  /// saturate.
  public convenience init(_ array: MultiArray) { self.init(array, nil) }

  private init(_ array: MultiArray, _ buffer: CVPixelBuffer?) {
    if let type = MLMultiArrayDataType(array.dataType) {
      (kelvin, dataType) = (array, type)
    } else {
      (kelvin, dataType) = (array.saturated, .int32)
    }
    pixelBuffer = buffer
  }

  /// Creates a dense row-major array of zeros.
  ///
  /// - Throws: `MLModelError` (`featureType`) for a negative size, or more elements than memory can contain.
  public convenience init(shape: [NSNumber], dataType: MLMultiArrayDataType) throws {
    self.init(
      try MLModelError.wrapping { () throws(ModelError) in
        try MultiArray(shape: shape.map(\.intValue), dataType: dataType.kelvin)
      })
  }

  /// Creates an array of zeros with the given strides, in elements.
  ///
  /// - Throws: `MLModelError` (`featureType`) for strides that do not fit the shape.
  public convenience init(shape: [NSNumber], dataType: MLMultiArrayDataType, strides: [NSNumber]) throws {
    self.init(
      try MLModelError.wrapping { () throws(ModelError) in
        try MultiArray(shape: shape.map(\.intValue), dataType: dataType.kelvin, strides: strides.map(\.intValue))
      })
  }

  /// Creates an array over the caller's memory, without a copy.
  ///
  /// - Parameters:
  ///   - dataPointer: the first element, aligned for its type.
  ///   - shape: the size of each dimension, outermost first.
  ///   - dataType: the type of the elements.
  ///   - strides: the distances of neighboring elements in each dimension, in elements.
  ///   - deallocator: called with the pointer when the array is released.
  /// - Throws: `MLModelError` (`featureType`) for strides that do not fit, or a pointer that is not aligned. The
  ///   deallocator is then not called.
  public convenience init(
    dataPointer: UnsafeMutableRawPointer, shape: [NSNumber], dataType: MLMultiArrayDataType, strides: [NSNumber],
    deallocator: ((UnsafeMutableRawPointer) -> Void)? = nil
  ) throws {
    nonisolated(unsafe) let release = deallocator
    self.init(
      try MLModelError.wrapping { () throws(ModelError) in
        try MultiArray(
          dataPointer: dataPointer, shape: shape.map(\.intValue), dataType: dataType.kelvin,
          strides: strides.map(\.intValue), deallocator: { release?($0) })
      })
  }

  /// Creates an array over the pixels of a buffer, without a copy.
  ///
  /// - Parameters:
  ///   - pixelBuffer: a buffer of the format `kCVPixelFormatType_OneComponent16Half`.
  ///   - shape: the shape. The last size is the buffer's width, and the product of the others its height.
  /// - Precondition: the format and the shape fit the buffer.
  public convenience init(pixelBuffer: CVPixelBuffer, shape: [NSNumber]) {
    let sizes = shape.map(\.intValue)
    let (width, height) = (CVPixelBufferGetWidth(pixelBuffer), CVPixelBufferGetHeight(pixelBuffer))
    precondition(
      CVPixelBufferGetPixelFormatType(pixelBuffer) == kCVPixelFormatType_OneComponent16Half,
      "an array takes buffers of OneComponent16Half")
    precondition(
      sizes.last == width && sizes.dropLast().reduce(1, *) == height,
      "a buffer of \(width) x \(height) pixels is not an array of the shape \(sizes)")
    var strides = [Int](repeating: 1, count: sizes.count)
    if sizes.count > 1 { strides[sizes.count - 2] = CVPixelBufferGetBytesPerRow(pixelBuffer) / 2 }
    for axis in sizes.indices.dropLast(2).reversed() { strides[axis] = strides[axis + 1] * sizes[axis + 1] }
    guard let base = CVPixelBufferGetBaseAddress(pixelBuffer) else { preconditionFailure("a buffer has an address") }
    do {
      let array = try MultiArray(
        dataPointer: base, shape: sizes, dataType: .float16, strides: strides,
        deallocator: { _ in withExtendedLifetime(pixelBuffer) {} })
      self.init(array, pixelBuffer)
    } catch { preconditionFailure("\(error)") }
  }

  /// Concatenates arrays along an axis.
  ///
  /// - Precondition: there is at least one array, and the shapes differ only in the size of the axis.
  public convenience init(concatenating multiArrays: [MLMultiArray], axis: Int, dataType: MLMultiArrayDataType) {
    do {
      self.init(try MultiArray(concatenating: multiArrays.map(\.kelvin), axis: axis, dataType: dataType.kelvin))
    } catch { preconditionFailure("\(error)") }
  }

  /// Creates an array from a copy of a shaped array's numbers.
  public convenience init<Shaped: MLShapedArrayProtocol>(_ shapedArray: Shaped) { self.init(MultiArray(shapedArray)) }

  /// Creates an array of one dimension.
  public convenience init<C: Collection>(_ data: C) throws where C.Element == Double {
    self.init(MultiArray(ShapedArray(scalars: data, shape: [data.count])))
  }

  /// Creates an array of one dimension.
  public convenience init<C: Collection>(_ data: C) throws where C.Element == Float {
    self.init(MultiArray(ShapedArray(scalars: data, shape: [data.count])))
  }

  /// Creates an array of one dimension.
  public convenience init<C: Collection>(_ data: C) throws where C.Element == Float16 {
    self.init(MultiArray(ShapedArray(scalars: data, shape: [data.count])))
  }

  /// Creates an array of one dimension.
  public convenience init<C: Collection>(_ data: C) throws where C.Element == Int32 {
    self.init(MultiArray(ShapedArray(scalars: data, shape: [data.count])))
  }

  /// The size of each dimension, outermost first.
  public var shape: [NSNumber] { kelvin.shape.map { NSNumber(value: $0) } }
  /// The distances of neighboring elements in each dimension, in elements.
  public var strides: [NSNumber] { kelvin.strides.map { NSNumber(value: $0) } }
  /// The number of elements.
  public var count: Int { kelvin.count }

  /// The type, the shape and the elements, if there are few.
  public override var description: String {
    let shape = kelvin.shape.map(String.init).joined(separator: " × ")
    let values = count > 64 ? "" : " \(kelvin.doubles)"
    return "\(kelvin.dataType.rawValue) \(shape) array\(values)"
  }

  /// Returns whether both have the same type, shape and elements.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? MLMultiArray).map { kelvin == $0.kelvin } ?? false
  }
  /// A hash of the type and the shape, which elements do not change.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(dataType)
    hasher.combine(kelvin.shape)
    return hasher.finalize()
  }
}

extension MultiArray {
  /// A copy of integers as int32. Numbers out of range become the nearest int32.
  fileprivate var saturated: MultiArray {
    do {
      let target = try MultiArray(shape: shape, dataType: .int32)
      target.withUnsafeMutableBufferPointer(ofType: Int32.self) { elements, _ in
        for (index, number) in doubles.enumerated() {
          elements[index] = Int32(min(max(number, Double(Int32.min)), Double(Int32.max)))
        }
      }
      return target
    } catch { preconditionFailure("an array has a shape that fits memory: \(error)") }
  }
}
