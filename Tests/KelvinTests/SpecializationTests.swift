import FoundationEssentials
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// Specializations of one model for several shapes.
@Suite struct SpecializationTests {
  @Test func shapesShareTheirPackedWeights() throws {
    let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-shapes-\(UInt64.random(in: 0 ..< .max))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var options = LoadOptions()
    options.cacheDirectory = folder
    options.request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 1)
    options.shapes = ["x": [1, 3, 32, 32]]
    let first = try LoadedModel(path: FlexibleNetwork.path, options: options)
    #expect(first.context.graph.nodes.allSatisfy { $0.op.name != "batch_normalization" }, "it is folded into weights")
    let standard = try first.shown.compile(first.shown.explain())
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

  private func predictor(_ shape: Shape, plansEverySize: Bool = false, isDeterministic: Bool = false) throws
    -> Predictor
  {
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 1)
    options.shapes = ["x": shape]
    options.plansEverySize = plansEverySize
    options.isDeterministic = isDeterministic
    let loaded = try LoadedModel(path: FlexibleNetwork.path, options: options)
    return try PlannedModel(loaded).predictor(specializationLimit: 2)
  }

  private func outputs(_ predictor: Predictor, _ shape: Shape) throws -> [String: [Double]] {
    let values = (0..<shape.count).map { Float($0 % 17) / 17 - 0.5 }
    let array = try MultiArray(values, shape: shape.dimensions)
    let input = DictionaryFeatureProvider(dictionary: ["x": FeatureValue(multiArray: array)])
    let outputs = try predictor.predict(input, [:], nil)
    return Dictionary(
      uniqueKeysWithValues: outputs.featureNames.map { ($0, outputs[$0]?.multiArrayValue?.doubles ?? []) })
  }

  @Test func changingSizeIsPlannedOncePerBucket() throws {
    let shared = try predictor([1, 3, 32, 32])
    let own = try predictor([1, 3, 32, 32], plansEverySize: true)
    // Of 17…32 the usual size is the largest: its plan serves.
    for side in [32, 30, 18, 26, 32] { #expect(try !outputs(shared, [1, 3, side, side]).isEmpty) }
    #expect(shared.specializationCounts.plans == 0)
    let sizes = [33, 40, 34, 63, 64, 48, 33, 65, 70]
    for side in sizes {
      let (one, other) = (try outputs(shared, [1, 3, side, 32]), try outputs(own, [1, 3, side, 32]))
      #expect(Set(one.keys) == Set(other.keys))
      for (name, values) in one {
        let expected = other[name] ?? []
        #expect(values.count == expected.count && zip(values, expected).allSatisfy { abs($0 - $1) < 1e-4 }, "\(side)")
      }
    }
    #expect(shared.specializationCounts.plans == 2, "33…64 and 65…128")
    #expect(own.specializationCounts.plans == sizes.count, "forms of two sizes are kept, and none came again so soon")
  }

  @Test func deterministicPlansIgnoreEarlierSizes() throws {
    let predictor = try predictor([1, 3, 32, 32], isDeterministic: true)
    for side in [40, 41] { _ = try outputs(predictor, [1, 3, side, 32]) }
    #expect(predictor.specializationCounts.plans == 2)
  }
}
