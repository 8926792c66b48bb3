internal import Glibc

/// Properties of PoCL, the driver that runs kernels on processors.
enum PoCL {
  /// PoCL's `CL_PLATFORM_NAME`.
  static let platform = "Portable Computing Language"

  /// Whether PoCL caches compiled kernels for all processes, so that Kelvin's compiled cache does not have to.
  ///
  /// To return a program's binary, PoCL compiles each of its kernels again for any group size, even kernels that never
  /// run. That would double the time of a first inference.
  static var keepsKernels: Bool {
    guard let setting = getenv("POCL_KERNEL_CACHE") else { return true }
    return String(cString: setting).hasPrefix("1")
  }
}
