import FoundationEssentials
import Kelvin
import KelvinMeasuring
import TestSupport
import Testing

/// Public plans of models with branches and loops.
@Suite struct RegionPlanTests {
  private static let vectors = "\(SharedFiles.projectRoot)/Tests/Vectors"

  private func plan(_ path: String) async throws -> ComputePlan {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try await ComputePlan.load(
      contentsOf: URL(filePath: "\(Self.vectors)/\(path)"), configuration: configuration)
  }

  /// The operations of a block and of the blocks inside.
  private func all(_ block: ModelStructure.Program.Block) -> [ModelStructure.Program.Operation] {
    block.operations.flatMap { [$0] + $0.blocks.flatMap(all) }
  }

  @Test(arguments: ["halving", "choice"]) func operationsInsideBlocksAreInThePlan(name: String) async throws {
    let plan = try await plan("MILControl/\(name).mlpackage")
    guard case .program(let program) = plan.modelStructure, let main = program.functions["main"] else {
      Issue.record("an ML Program has functions")
      return
    }
    let control = try #require(main.block.operations.first { !$0.blocks.isEmpty })
    let own = try #require(plan.layer(for: control))
    #expect(["loop", "branch"].contains(own.operatorName) && own.region == nil)
    #expect(plan.deviceUsage(for: control)?.preferred.identifier == "cpu")
    var inside = 0
    for operation in control.blocks.flatMap(all) {
      guard let layer = plan.layer(for: operation) else { continue }
      inside += 1
      #expect(layer.region != nil, "\(operation.name)")
      #expect(plan.estimatedCost(of: operation)?.time ?? .zero >= .zero)
      #expect(plan.deviceUsage(for: operation)?.preferred.identifier == "cpu")
    }
    #expect(inside > 0)
    let order = plan.layers.map(\.name)
    let first = try #require(plan.layers.firstIndex { $0.region != nil })
    #expect(try #require(order.firstIndex(of: own.name)) < first)
  }

  @Test func layersStateTheirRunCount() async throws {
    let plan = try await plan("Control/data_dependent.onnx")
    let loop = try #require(plan.layers.first { $0.name == "halve" })
    #expect(loop.operatorName == "loop" && loop.runs == 10 && loop.region == nil)
    let inside = plan.layers.filter { $0.region == "halve/body" }
    #expect(!inside.isEmpty && inside.allSatisfy { $0.runs == 10 })
    #expect(plan.htmlReport().contains("halve/body: 10\u{A0}× in each inference"))
  }
}
