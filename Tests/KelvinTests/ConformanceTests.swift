import ConformanceChecks
import Kelvin
import KelvinConformance
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPasses
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// Every case after passes, on every device of this machine, against the reference device. The suites of the devices run the
/// cases as they are.
@Suite struct ConformanceTests {
  static let devices = deviceInventory.devices.filter { $0.info.kind != .reference }.map(\.info.id)

  @Test(arguments: Tier.some(1, of: devices), ConformanceCase.all)
  func everyCaseMatchesTheReference(device id: String, testCase: ConformanceCase) throws {
    let device = try deviceInventory.device(id)
    let reference = ReferenceDevice()
    let passed = ConformanceCase(
      name: testCase.name + " after passes",
      graph: try Pipeline.standard(ReferenceEvaluator()).run(testCase.graph).graph, inputs: testCase.inputs)
    switch try checkConformance(of: device, on: passed, reference: reference) {
    case .agrees: break
    case .differs(let difference): Issue.record("\(difference)")
    case .unsupported(let reason):
      let outcome = try checkConformance(of: device, on: testCase, reference: reference)
      #expect(outcome != .agrees, "passes take '\(testCase)' away from \(id): \(reason)")
    }
  }
}

@Suite struct ConformanceExemptionTests {
  private let device = DeviceInfo(
    id: "vulkan:0", name: "imagined", kind: .discreteGPU, driver: "", version: "", memory: 0, resource: "imagined")

  @Test func exemptionsNameExistingCasesOnce() {
    for entry in ConformanceExemption.all {
      #expect(ConformanceCase.all.contains { entry.covers($0) }, "\(entry)")
    }
    for testCase in ConformanceCase.all {
      let devices = ConformanceExemption.all.filter { $0.covers(testCase) }.map(\.device)
      #expect(Set(devices).count == devices.count, "\(testCase)")
    }
  }

  @Test func outcomeOtherThanListedIsAFault() throws {
    let testCase = try #require(ConformanceCase.all.first)
    let other = try #require(ConformanceCase.all.last)
    let name = try #require(testCase.graph.nodes.first).op.name
    for cases in [ConformanceExemption.Cases.named(testCase.name), .ofOperator(name)] {
      let exempt = [ConformanceExemption(cases, on: "vulkan", "too narrow")]
      func fault(_ outcome: ConformanceOutcome, of given: ConformanceCase? = nil) -> String? {
        outcome.fault(of: given ?? testCase, on: device, exempt: exempt)
      }
      #expect(fault(.unsupported("too narrow")) == nil)
      #expect(fault(.agrees)?.contains("remove the exemption 'too narrow'") == true)
      #expect(fault(.unsupported("too wide"))?.contains("expected 'too narrow', got 'too wide'") == true)
      #expect(fault(.differs("by 3")) == "by 3")
      #expect(fault(.agrees, of: other) == nil)
      #expect(fault(.unsupported("too narrow"), of: other)?.contains("does not run on vulkan:0") == true)
    }
    let outcome = ConformanceOutcome.unsupported("too narrow")
    let software = ConformanceExemption(.named(testCase.name), on: "vulkan", of: .software, "too narrow")
    for other in [ConformanceExemption(.named(testCase.name), on: "opencl", "too narrow"), software] {
      #expect(outcome.fault(of: testCase, on: device, exempt: [other]) != nil)
    }
    let card = ConformanceExemption(.named(testCase.name), on: "vulkan", of: .discreteGPU, "too narrow")
    #expect(outcome.fault(of: testCase, on: device, exempt: [card]) == nil)
  }
}
