// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin

// Functions under their names up to interface 6, kept for compatibility.

@c @implementation
public func kelvin_features_set_picture(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ image: UnsafePointer<kelvin_image_buffer>?,
  _ orientation: Int32, _ fit: kelvin_fit, _ error: ErrorText?
) -> kelvin_code {
  kelvin_features_set_image(features, name, image, orientation, fit, error)
}

@c @implementation
public func kelvin_features_set_picture_file(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?, _ fit: kelvin_fit,
  _ error: ErrorText?
) -> kelvin_code {
  kelvin_features_set_image_file(features, name, path, fit, error)
}

@c @implementation
public func kelvin_features_get_picture(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ image: UnsafeMutablePointer<kelvin_image_buffer>?,
  _ error: ErrorText?
) -> kelvin_code {
  kelvin_features_get_image(features, name, image, error)
}
