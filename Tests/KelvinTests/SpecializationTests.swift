import FoundationEssentials
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// Compiled forms of one model for several shapes.
@Suite struct SpecializationTests {
  @Test func everyShapeSharesTheWeightsPackedForTheFirst() throws {
    let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-shapes-\(UInt64.random(in: 0 ..< .max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var options = LoadOptions()
    options.cacheDirectory = folder
    options.request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 1)
    options.shapes = ["x": [1, 3, 32, 32]]
    let first = try LoadedModel(path: FlexibleNetwork.path, options: options)
    #expect(first.context.graph.nodes.allSatisfy { $0.op.name != "batch_normalization" }, "it is folded into weights")
    let standard = try first.compile(first.explain())
    let device = try deviceInventory.device("cpu")
    let store = try #require(first.context.cache).weights(
      first.context.key, function: first.functionName, device: device.info)
    let packed = store.packedCount
    #expect(packed > 3)
    for shape: Shape in [[2, 3, 20, 48], [7, 3, 16, 16]] {
      let before = store.packedCount
      let other = try first.graph(0, for: SlotTypes(shapes: ["x": shape]))
      let compiled = try other.compile(other.explain())
      #expect(store.packedCount == before, "\(shape)")
      withExtendedLifetime(compiled) {}
    }
    withExtendedLifetime(standard) {}
  }
}
