import FoundationEssentials
import Kelvin
import TestSupport
import Testing

/// Structure and plan of real models, by their own names.
@Suite(.enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason))) struct PlanCoverageTests {
  private func plan(_ name: String) async throws -> ComputePlan {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try await ComputePlan.load(
      contentsOf: URL(filePath: SharedFiles.path("models/\(name)")), configuration: configuration)
  }

  @Test(arguments: Tier.some(1, of: ["mnist.onnx", "MobileNetV2_f32.onnx"]))
  func everyConvolutionOfANetworkHasACost(name: String) async throws {
    let plan = try await plan(name)
    guard case .neuralNetwork(let network) = plan.modelStructure else {
      Issue.record("an ONNX graph is a list of layers")
      return
    }
    let convolutions = network.layers.filter { $0.type == "Conv" }
    #expect(!convolutions.isEmpty)
    for layer in convolutions {
      let cost = try #require(plan.estimatedCost(of: layer), "\(layer.name)")
      #expect(cost.weight > 0 && cost.time > .zero, "\(layer.name)")
      #expect(plan.deviceUsage(for: layer)?.preferred.identifier == "cpu", "\(layer.name)")
    }
    let total = network.layers.compactMap { plan.estimatedCost(of: $0)?.weight }.reduce(0, +)
    #expect(abs(total - 1) < 1e-6)
  }

  @Test func programOperationsHaveCostsAndConstantsNone() async throws {
    let plan = try await plan("MobileNetV2_f16.mlpackage")
    guard case .program(let program) = plan.modelStructure, let main = program.functions["main"] else {
      Issue.record("an ML Program has functions")
      return
    }
    let operations = main.block.operations
    for operation in operations where operation.operatorName.hasSuffix(".conv") {
      #expect(plan.estimatedCost(of: operation)?.weight ?? 0 > 0, "\(operation.name)")
    }
    for operation in operations where operation.operatorName.hasSuffix("const") {
      #expect(plan.estimatedCost(of: operation) == nil, "\(operation.name)")
    }
    let total = operations.compactMap { plan.estimatedCost(of: $0)?.weight }.reduce(0, +)
    #expect(abs(total - 1) < 1e-6)
  }

  @Test func assetIsDescribedWithoutLoading() async throws {
    let asset = ModelAsset(url: URL(filePath: SharedFiles.path("models/MobileNetV2_f16.mlpackage")))
    let description = try await asset.modelDescription
    let model = try await Model.load(asset: asset, configuration: ModelConfiguration(computeUnits: .cpuOnly))
    #expect(description == model.modelDescription)
    #expect(try await asset.functionNames.contains("main"))
    #expect(try await asset.modelDescription(of: "main") == description)
    let error = await #expect(throws: ModelError.self) { try await asset.modelDescription(of: "nonsense") }
    #expect(error?.code == .parameters)
    #expect(error?.description.contains("'nonsense'") == true)
  }
}
