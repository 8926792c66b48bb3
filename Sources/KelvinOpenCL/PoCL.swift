internal import Glibc

/// What is known of PoCL, the driver that runs kernels on processors.
enum PoCL {
  /// Its `CL_PLATFORM_NAME`.
  static let platform = "Portable Computing Language"

  /// Whether it keeps what it compiled, for all processes, so that the compiled cache need not.
  ///
  /// To give a binary of a program it compiles each of its kernels once more, those that nobody runs too, for groups of any
  /// size: a first inference of MobileNetV2 waited as long for that as for all else (7.4 s, 3.4 without).
  static var keepsKernels: Bool {
    guard let setting = getenv("POCL_KERNEL_CACHE") else { return true }
    return String(cString: setting).hasPrefix("1")
  }
}
