import CKernelChecks
import Glibc
import TestSupport
import Testing

/// The package's folder, from the path of this file.
private let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

/// Each kernel against plain loops, in memory that is protected at its ends.
@Suite struct KernelCheckTests {
  @Test(arguments: 0..<kernel_check_families())
  func everyKernelOfAFamilyAgreesWithPlainLoops(family: Int) {
    for variant in 0..<kernel_check_variants() {
      var text = [CChar](repeating: 0, count: 1000)
      let verdict = kernel_check_run(family, variant, 1, &text, text.count)
      let difference = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      #expect(verdict != kernel_differs, "\(difference)")
    }
  }

  /// The same for other architectures; a missing emulator is reported.
  @Test(.slow) func kernelsOfOtherProcessorsAgreeInAnEmulator() {
    #expect(system("'\(root)/dev/kernels.sh' --only aarch64 > /dev/null") == 0, "run dev/kernels.sh --only aarch64")
  }
}
