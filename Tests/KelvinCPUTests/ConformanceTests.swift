import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: CPUDevice.variantNames.indices, [false, true])
  func everyCaseAgreesWithTheReferenceOrIsExempt(variant: Int, prefersBlocks: Bool) throws {
    let device = CPUDevice(variant: variant, prefersBlocks: prefersBlocks)
    let reference = ReferenceDevice()
    for testCase in ConformanceCase.all {
      let outcome = try checkConformance(of: device, on: testCase, reference: reference)
      let fault = outcome.fault(of: testCase, on: device.info)
      #expect(fault == nil, "\(CPUDevice.variantNames[variant])")
    }
  }
}
