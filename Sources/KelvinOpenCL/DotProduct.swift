internal import CKelvinSupport

/// Integer dot products of four signed bytes in a word (`cl_khr_integer_dot_product`).
///
/// The extension is asked for what the hardware has, not for its functions: compilers make the same instruction of the sum
/// written out, and one of Intel's leaves calls of `dot_4x8packed_ss_int` undefined.
enum DotProduct {
  /// The macro by which a program uses them.
  static let define = "DOT"
  /// Those of the vectors that such a program is written for: cards'. Drivers for CPUs may say that they have the products.
  static let lanes = 4
  fileprivate static let extensionName: Substring = "cl_khr_integer_dot_product"
  /// `CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR`: six answers, signed bytes first.
  fileprivate static let speeds: Int32 = 0x1075
}

extension OpenCLLibrary {
  /// Whether the driver says that dot products of signed bytes are faster than what would stand in their place.
  func acceleratesDotProducts(_ device: cl_device_id) -> Bool {
    guard text(of: device, CL_DEVICE_EXTENSIONS).split(separator: " ").contains(DotProduct.extensionName),
      let isFast = value(of: device, DotProduct.speeds, InlineArray<6, cl_bool>(repeating: 0))
    else { return false }
    return isFast[0] != 0
  }
}
