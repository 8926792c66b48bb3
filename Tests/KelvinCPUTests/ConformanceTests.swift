import ConformanceChecks
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: Tier.seeds(1, of: CPUDevice.variantNames.count), [false, true])
  func conformsOrIsExempt(variant: Int, prefersBlocks: Bool) throws {
    try check(CPUDevice(variant: variant, prefersBlocks: prefersBlocks), .full, CPUDevice.variantNames[variant])
  }

  @Test(
    .enabled(if: CPUDevice().rounds, "no instruction set of this processor multiplies bfloat16"),
    arguments: Tier.some(1, of: [true, false]))
  func conformsOnRoundedOperands(prefersBlocks: Bool) throws {
    try check(CPUDevice(prefersBlocks: prefersBlocks), .low, "rounded")
  }

  private func check(_ device: CPUDevice, _ precision: Precision, _ name: String) throws {
    let reference = ReferenceDevice()
    for testCase in ConformanceCase.all {
      let outcome = try checkConformance(of: device, on: testCase, reference: reference, precision: precision)
      let fault = outcome.fault(of: testCase, on: device.info)
      #expect(fault == nil, "\(name)")
    }
  }
}
