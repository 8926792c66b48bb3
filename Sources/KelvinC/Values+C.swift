import CKelvin
import Kelvin
import KelvinImages

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
  /// Creates an array over the caller's memory.
  ///
  /// - Throws: `HandleError` for NULL pointers; `ModelError` with code `featureType` for an invalid shape, strides or
  ///   type.
  convenience init(borrowed array: kelvin_array) throws {
    let type = try MultiArrayDataType(array.type)
    guard (0...64).contains(array.rank) else {
      throw ModelError(.featureType, "expected a rank from 0 to 64, got \(array.rank)")
    }
    let shape = try elements(array.shape, Int(array.rank), "shape").map { Int($0) }
    let strides = try array.strides.map { try elements($0, Int(array.rank), "strides").map { Int($0) } }
    // The address of an empty array is never accessed.
    let isEmpty = shape.contains(0)
    guard let data = array.data ?? (isEmpty ? UnsafeMutableRawPointer(bitPattern: 64) : nil) else {
      throw HandleError("'data' is NULL: expected the first element")
    }
    try self.init(dataPointer: data, shape: shape, dataType: type, strides: strides)
  }

  /// Returns the array's address with copies of its shape and strides in `memory`.
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
    (.argb8, KELVIN_ARGB8),
    (.gray16Half, KELVIN_GRAY16_HALF), (.gray32Float, KELVIN_GRAY32_FLOAT), (.rgba16Half, KELVIN_RGBA16_HALF),
    (.rgba32Float, KELVIN_RGBA32_FLOAT), (.yCbCr601Full, KELVIN_YCBCR601_FULL), (.yCbCr601Video, KELVIN_YCBCR601_VIDEO),
    (.yCbCr709Full, KELVIN_YCBCR709_FULL), (.yCbCr709Video, KELVIN_YCBCR709_VIDEO),
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
  /// Creates an image over the caller's memory.
  ///
  /// - Throws: `HandleError` for NULL; `ModelError` with code `featureType` for an invalid size or format.
  convenience init(borrowed image: kelvin_image_buffer) throws {
    guard let data = image.data else { throw HandleError("'data' is NULL: expected the first pixel") }
    let format = try PixelFormat(image.format)
    guard format.isBytes else {
      throw ModelError(
        .featureType,
        "expected an image of 8 bits a channel, got \(format); kelvin_features_set_frame gives an input any format, and "
          + "predictions write no other")
    }
    let width = Int(image.width)
    try self.init(
      dataPointer: data, width: width, height: Int(image.height), format: format,
      bytesPerRow: image.bytes_per_row == 0 ? width * format.channelCount : Int(image.bytes_per_row))
  }

  /// The image's address, format and size.
  var view: kelvin_image_buffer {
    kelvin_image_buffer(
      data: dataPointer, format: format.code, width: Int32(width), height: Int32(height),
      bytes_per_row: Int64(bytesPerRow))
  }
}

extension PixelBuffer {
  /// Creates an image over the caller's memory.
  ///
  /// - Throws: `HandleError` for a NULL plane; `ModelError` with code `featureType` for an invalid size or format, an
  ///   extra plane, or overlapping rows.
  init(borrowed frame: kelvin_frame) throws {
    let format = try PixelFormat(frame.format)
    let (width, height) = (Int(frame.width), Int(frame.height))
    let sizes = format.planes(width: width, height: height)
    if sizes.count == 1, frame.planes.1.data != nil {
      throw ModelError(.featureType, "an image of \(format) has one plane, got two; set 'planes[1].data' to NULL")
    }
    let planes = try zip(sizes, [frame.planes.0, frame.planes.1]).enumerated().map { index, pair in
      guard let data = pair.1.data else {
        throw HandleError("'planes[\(index)].data' is NULL: \(format) has \(sizes.count) planes")
      }
      return PixelPlane(data, bytesPerRow: pair.1.bytes_per_row == 0 ? pair.0.rowBytes : Int(pair.1.bytes_per_row))
    }
    do throws(ImageError) { try self.init(width: width, height: height, format: format, planes: planes) } catch {
      throw ModelError(.featureType, error.reason)
    }
  }

  /// Creates an image over the caller's memory, which it keeps alive.
  init(borrowed image: PixelBacking) throws {
    try self.init(
      width: image.width, height: image.height, format: image.format,
      planes: [PixelPlane(image.dataPointer, bytesPerRow: image.bytesPerRow)]
    ) { withExtendedLifetime(image) {} }
  }

  /// Returns the image's planes. An image that is not in a caller's memory is copied to `memory`.
  func view(_ memory: CMemory) -> kelvin_frame {
    var frame = kelvin_frame()
    (frame.format, frame.width, frame.height) = (format.code, Int32(width), Int32(height))
    var planes = borrowedPlanes ?? []
    if planes.isEmpty {
      var next = UnsafeRawPointer(memory.elements(bytes))
      for size in format.planes(width: width, height: height) {
        planes.append(PixelPlane(next, bytesPerRow: size.rowBytes))
        next += size.rowBytes * size.rows
      }
    }
    frame.planes.0 = kelvin_plane(data: planes[0].base, bytes_per_row: Int64(planes[0].bytesPerRow))
    if planes.count > 1 {
      frame.planes.1 = kelvin_plane(data: planes[1].base, bytes_per_row: Int64(planes[1].bytesPerRow))
    }
    return frame
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
