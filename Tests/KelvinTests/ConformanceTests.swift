import Kelvin
import KelvinDevices
import KelvinPasses
import KelvinReference
import KelvinRuntime
import Testing

/// Every case on every device of this machine, as it is and after passes, against the reference device.
@Suite struct ConformanceTests {
  static let devices = deviceInventory.devices.filter { $0.info.kind != .reference }.map(\.info.id)

  @Test(arguments: devices, ConformanceCase.all)
  func matchesReference(device id: String, testCase: ConformanceCase) throws {
    let device = try deviceInventory.device(id)
    let reference = ReferenceDevice()
    let passed = ConformanceCase(
      name: testCase.name + " after passes",
      graph: try Pipeline.standard(ReferenceEvaluator()).run(testCase.graph).graph, inputs: testCase.inputs)
    for variant in [testCase, passed] {
      switch try checkConformance(of: device, on: variant, reference: reference) {
      case .agrees: break
      case .unsupported(let reason): #expect(!reason.isEmpty)
      case .differs(let difference): Issue.record("\(difference)")
      }
    }
  }
}
