import KelvinCPU
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: CPUDevice.variantNames.indices)
  func everyCaseAgreesWithTheReference(variant: Int) throws {
    let device = CPUDevice(variant: variant)
    let reference = ReferenceDevice()
    var unsupported: [String] = []
    for testCase in ConformanceCase.all {
      switch try checkConformance(of: device, on: testCase, reference: reference) {
      case .agrees: break
      case .unsupported(let reason): unsupported.append("\(testCase): \(reason)")
      case .differs(let difference): Issue.record("\(CPUDevice.variantNames[variant]): \(difference)")
      }
    }
    for entry in unsupported {
      #expect(entry.hasSuffix("arithmetic") || entry.contains("windows of 3 axes"), "\(entry)")
    }
  }
}
