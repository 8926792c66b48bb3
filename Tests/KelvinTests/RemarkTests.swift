import FoundationEssentials
import Kelvin
import TestSupport
import Testing

/// Remarks of a model about operations that its units cannot run.
@Suite struct RemarkTests {
  @Test(.enabled(if: ModelFixture.devices.contains("vulkan:0"), "needs a Vulkan device"))
  func operationsOutsideTheUnitsGiveRemarks() async throws {
    let url = URL(filePath: "\(SharedFiles.projectRoot)/Tests/Vectors/DataSizes/places.onnx")
    var configuration = ModelConfiguration(computeUnits: .devices(["vulkan:0"]))
    configuration.usesCache = false
    let model = try await Model.load(contentsOf: url, configuration: configuration)
    #expect(model.computePlan.remarks.count == 1)
    #expect(model.computePlan.remarks.first?.hasPrefix("1 of 1 node runs on cpu, not on vulkan:0: ") == true)
    #expect(model.remarks == model.computePlan.remarks)
    configuration.computeUnits = .cpuOnly
    #expect(try await ComputePlan.load(contentsOf: url, configuration: configuration).remarks == [])
  }
}
