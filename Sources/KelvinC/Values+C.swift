import CKelvin
import Kelvin

extension MultiArrayDataType {
  private static let codes: [(MultiArrayDataType, Int)] = [
    (.float64, KELVIN_FLOAT64), (.float32, KELVIN_FLOAT32), (.float16, KELVIN_FLOAT16), (.int64, KELVIN_INT64),
    (.int32, KELVIN_INT32), (.int16, KELVIN_INT16), (.int8, KELVIN_INT8), (.uint64, KELVIN_UINT64),
    (.uint32, KELVIN_UINT32), (.uint16, KELVIN_UINT16), (.uint8, KELVIN_UINT8), (.bool, KELVIN_BOOL),
  ]

  init(_ code: kelvin_type) throws {
    guard let type = Self.codes.first(where: { $0.1 == code }) else {
      throw ModelError(.featureType, "expected a type from 1 to \(Self.codes.count), got \(code)")
    }
    self = type.0
  }

  var code: kelvin_type { kelvin_type(Self.codes.first { $0.0 == self }?.1 ?? 0) }
}

extension MultiArray {
  /// An array over memory that a caller lends.
  ///
  /// - Throws: `HandleError` for pointers that are NULL; `ModelError` with code `featureType` for a shape, strides or a
  ///   type that cannot be.
  convenience init(lent array: kelvin_array) throws {
    let type = try MultiArrayDataType(array.type)
    guard (0...64).contains(array.rank) else {
      throw ModelError(.featureType, "expected a rank from 0 to 64, got \(array.rank)")
    }
    let shape = try elements(array.shape, Int(array.rank), "shape").map { Int($0) }
    let strides = try array.strides.map { try elements($0, Int(array.rank), "strides").map { Int($0) } }
    // Nothing is read or written at the address of an array without elements.
    let isEmpty = shape.contains(0)
    guard let data = array.data ?? (isEmpty ? UnsafeMutableRawPointer(bitPattern: 64) : nil) else {
      throw HandleError("'data' is NULL: expected the first element")
    }
    try self.init(dataPointer: data, shape: shape, dataType: type, strides: strides)
  }

  /// Where it lies. Shape and strides are copied to memory of the caller's.
  func view(_ memory: CMemory) -> kelvin_array {
    memory.hold(self)
    return kelvin_array(
      data: dataPointer, type: dataType.code, rank: Int32(shape.count),
      shape: memory.elements(shape.map { Int64($0) }), strides: memory.elements(strides.map { Int64($0) }))
  }
}

extension PixelFormat {
  private static let codes: [(PixelFormat, Int)] = [
    (.rgb8, KELVIN_RGB8), (.rgba8, KELVIN_RGBA8), (.bgra8, KELVIN_BGRA8), (.gray8, KELVIN_GRAY8),
  ]

  init(_ code: kelvin_pixels) throws {
    guard let format = Self.codes.first(where: { $0.1 == code }) else {
      throw ModelError(.featureType, "expected pixels from 1 to \(Self.codes.count), got \(code)")
    }
    self = format.0
  }

  var code: kelvin_pixels { kelvin_pixels(Self.codes.first { $0.0 == self }?.1 ?? 0) }
}

extension PixelBacking {
  /// A picture over memory that a caller lends.
  ///
  /// - Throws: `HandleError` for NULL; `ModelError` with code `featureType` for a size or format that no picture has.
  convenience init(lent picture: kelvin_picture) throws {
    guard let data = picture.data else { throw HandleError("'data' is NULL: expected the first pixel") }
    let format = try PixelFormat(picture.format)
    let width = Int(picture.width)
    try self.init(
      dataPointer: data, width: width, height: Int(picture.height), format: format,
      bytesPerRow: picture.bytes_per_row == 0 ? width * format.channelCount : Int(picture.bytes_per_row))
  }

  /// Where it lies.
  var view: kelvin_picture {
    kelvin_picture(
      data: dataPointer, format: format.code, width: Int32(width), height: Int32(height),
      bytes_per_row: Int64(bytesPerRow))
  }
}

extension ImageCropAndScale? {
  init(_ fit: kelvin_fit) throws {
    switch Int(fit) {
    case KELVIN_FIT_EXACT: self = nil
    case KELVIN_FIT_CENTER_CROP: self = .centerCrop
    case KELVIN_FIT_SCALE_FIT: self = .scaleToFit
    case KELVIN_FIT_SCALE_FILL: self = .scaleToFill
    default: throw ModelError(.parameters, "expected a fit from 0 to 3, got \(fit)")
    }
  }
}
