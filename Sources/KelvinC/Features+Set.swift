// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import Kelvin
import KelvinBasics
import KelvinImages

@c @implementation
public func kelvin_features_new() -> OpaquePointer? { try? Handles.add(FeaturesHandle()) }

@c @implementation
public func kelvin_features_release(_ features: OpaquePointer?) { Handles.release(features, as: FeaturesHandle.self) }

@c @implementation
public func kelvin_features_remove(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) { try Handles.find(features, as: FeaturesHandle.self).remove(try text(name, "name")) }
}

@c @implementation
public func kelvin_features_set_array(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ array: UnsafePointer<kelvin_array>?, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    guard let array else { throw HandleError("'array' is NULL: expected an array") }
    return FeatureValue(multiArray: try naming(name) { try MultiArray(borrowed: array.pointee) })
  }
}

@c @implementation
public func kelvin_features_set_image(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ image: UnsafePointer<kelvin_image_buffer>?,
  _ orientation: Int32, _ fit: kelvin_fit, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let name = try text(name, "name")
    guard let image else { throw HandleError("'image' is NULL: expected an image") }
    let orientation = try turned(name, orientation)
    let fit = try ImageCropAndScale?(fit)
    let backing = try naming(name) { try PixelBacking(borrowed: image.pointee) }
    features.set(name, .borrowed(backing, orientation, fit))
  }
}

@c @implementation
public func kelvin_features_set_frame(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ frame: UnsafePointer<kelvin_frame>?,
  _ orientation: Int32, _ fit: kelvin_fit, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let name = try text(name, "name")
    guard let frame else { throw HandleError("'frame' is NULL: expected an image") }
    let orientation = try turned(name, orientation)
    let fit = try ImageCropAndScale?(fit)
    let pixels = try naming(name) { try PixelBuffer(borrowed: frame.pointee) }
    features.set(name, .frame(pixels, orientation, fit))
  }
}

/// - Throws: `ModelError` with code `parameters` for a number that is not a valid EXIF orientation.
private func turned(_ name: String, _ orientation: Int32) throws -> ImageOrientation {
  guard let orientation = ImageOrientation(rawValue: orientation == 0 ? 1 : Int(orientation)) else {
    throw ModelError(.parameters, "feature '\(name)': expected an orientation from 1 to 8, got \(orientation)")
  }
  return orientation
}

/// Converts an image to a value. An image that must already have the model's size is rotated here; other images are
/// rotated when they are scaled.
func imageValue(
  _ pixels: PixelBuffer, _ orientation: ImageOrientation, _ fit: ImageCropAndScale?
) throws -> FeatureValue {
  guard let fit else { return FeatureValue(pixelBuffer: try pixels.oriented(orientation)) }
  return FeatureValue(image: pixels, orientation: orientation, cropAndScale: fit)
}

@c @implementation
public func kelvin_features_set_image_file(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?, _ fit: kelvin_fit,
  _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    let fit = try ImageCropAndScale?(fit)
    let image = try ImageCodec.decode(path: try KelvinC.path(path))
    return try imageValue(image.pixels, image.orientation, fit)
  }
}

@c @implementation
public func kelvin_features_set_int64(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: Int64, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { _ in FeatureValue(int64: value) }
}

@c @implementation
public func kelvin_features_set_double(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: Double, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { _ in FeatureValue(double: value) }
}

@c @implementation
public func kelvin_features_set_string(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { _ in FeatureValue(string: try text(value, "value")) }
}

@c @implementation
public func kelvin_features_set_dictionary(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ keys: UnsafePointer<UnsafePointer<CChar>?>?,
  _ values: UnsafePointer<Double>?, _ count: Int, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    let keys = try elements(keys, count, "keys").map { ClassLabel.string(try text($0, "keys")) }
    return try dictionary(name, keys, try elements(values, count, "values"))
  }
}

@c @implementation
public func kelvin_features_set_numbered(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ keys: UnsafePointer<Int64>?,
  _ values: UnsafePointer<Double>?, _ count: Int, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    let keys = try elements(keys, count, "keys").map(ClassLabel.int64)
    return try dictionary(name, keys, try elements(values, count, "values"))
  }
}

@c @implementation
public func kelvin_features_set_strings(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
  _ count: Int, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { _ in
    FeatureValue(
      sequence: FeatureSequence(strings: try elements(values, count, "values").map { try text($0, "values") }))
  }
}

@c @implementation
public func kelvin_features_set_text_array(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
  _ shape: UnsafePointer<Int64>?, _ rank: Int, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    let (sizes, count) = try sizes(name, shape, rank)
    let texts = try elements(values, count, "values").map { try text($0, "values") }
    return FeatureValue(sequence: FeatureSequence(strings: texts, shape: sizes))
  }
}

/// Returns the sizes of an array of strings, and the number of strings.
///
/// - Throws: `ModelError` with code `featureType` for invalid sizes.
private func sizes(_ name: String, _ shape: UnsafePointer<Int64>?, _ rank: Int) throws -> (sizes: [Int], count: Int) {
  let sizes = try elements(shape, rank, "shape").map { Int($0) }
  guard let count = FeatureSequence.count(of: sizes) else {
    throw ModelError(.featureType, "feature '\(name)': expected sizes of at least 0 that fit memory, got \(sizes)")
  }
  return (sizes, count)
}

@c @implementation
public func kelvin_features_set_text(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<kelvin_text>?, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { _ in
    guard let value else { throw HandleError("'value' is NULL: expected a string") }
    return FeatureValue(string: try text(value.pointee, "value"))
  }
}

@c @implementation
public func kelvin_features_set_texts(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ values: UnsafePointer<kelvin_text>?,
  _ shape: UnsafePointer<Int64>?, _ rank: Int, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    let (sizes, count) = try sizes(name, shape, rank)
    let texts = try elements(values, count, "values").map { try text($0, "values") }
    return FeatureValue(sequence: FeatureSequence(strings: texts, shape: sizes))
  }
}

@c @implementation
public func kelvin_features_set_text_dictionary(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ keys: UnsafePointer<kelvin_text>?,
  _ values: UnsafePointer<Double>?, _ count: Int, _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    let keys = try elements(keys, count, "keys").map { ClassLabel.string(try text($0, "keys")) }
    return try dictionary(name, keys, try elements(values, count, "values"))
  }
}

@c @implementation
public func kelvin_features_set_arrays(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ arrays: UnsafePointer<kelvin_array>?, _ count: Int,
  _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { name in
    let borrowed = try elements(arrays, count, "arrays").map { array in
      try naming(name) { try MultiArray(borrowed: array) }
    }
    return FeatureValue(sequence: FeatureSequence(multiArrays: borrowed))
  }
}

@c @implementation
public func kelvin_features_set_int64s(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ values: UnsafePointer<Int64>?, _ count: Int,
  _ error: ErrorText?
) -> kelvin_code {
  set(features, name, error) { _ in
    FeatureValue(sequence: FeatureSequence(int64s: Array(try elements(values, count, "values"))))
  }
}

private func set(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ error: ErrorText?,
  _ value: (_ name: String) throws -> FeatureValue
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let name = try text(name, "name")
    features.set(name, .feature(try value(name)))
  }
}

private func dictionary(
  _ name: String, _ keys: [ClassLabel], _ values: UnsafeBufferPointer<Double>
) throws -> FeatureValue {
  let entries = Dictionary(zip(keys, values)) { first, _ in first }
  guard entries.count == keys.count else {
    throw ModelError(.featureType, "feature '\(name)': expected each key once, got a key twice")
  }
  return FeatureValue(dictionary: entries)
}
