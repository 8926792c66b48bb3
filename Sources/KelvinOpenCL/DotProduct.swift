internal import CKelvinSupport

/// Integer dot products of four signed bytes in a word (`cl_khr_integer_dot_product`).
///
/// The extension is queried only to learn whether the hardware is fast. Its functions are not used, because compilers
/// generate the same instruction for an explicit sum, and one Intel compiler leaves calls of `dot_4x8packed_ss_int`
/// undefined.
enum DotProduct {
  /// The macro that makes a program use dot products.
  static let define = "DOT"
  /// The vector width that such a program requires, which is that of GPUs. Drivers for CPUs may report the extension
  /// too.
  static let lanes = 4
  fileprivate static let extensionName: Substring = "cl_khr_integer_dot_product"
  /// `CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR`: six booleans, signed bytes first.
  fileprivate static let speeds: Int32 = 0x1075
}

extension OpenCLLibrary {
  /// Whether the driver reports that dot products of signed bytes are faster than the equivalent instructions.
  func acceleratesDotProducts(_ device: cl_device_id) -> Bool {
    guard text(of: device, CL_DEVICE_EXTENSIONS).split(separator: " ").contains(DotProduct.extensionName),
      let isFast = value(of: device, DotProduct.speeds, InlineArray<6, cl_bool>(repeating: 0))
    else { return false }
    return isFast[0] != 0
  }
}
