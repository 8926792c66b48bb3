import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// The state kept for each set of constants for which a caller gives values.
@Suite struct OverridingTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Overrides"

  private func predictor() throws -> Predictor {
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 1)
    let loaded = try LoadedModel(path: "\(Self.folder)/affine.onnx", options: options)
    return try PlannedModel(loaded).predictor(specializationLimit: 2)
  }

  /// - Parameter names: constants that are given values, all 2.
  private func predict(_ predictor: Predictor, _ names: [String]) throws {
    func twos(_ shape: [Int]) throws -> FeatureValue {
      FeatureValue(multiArray: try MultiArray([Float](repeating: 2, count: shape.reduce(1, *)), shape: shape))
    }
    var values = ["x": try twos([2, 3])]
    for name in names { values[name] = try twos([name == "unused" ? 2 : 3]) }
    let y = try predictor.predict(DictionaryFeatureProvider(dictionary: values), [:], nil)["y"]
    if Set(names).isSuperset(of: ["scale", "offset"]) { #expect(y?.multiArrayValue?.doubles == [6, 6, 6, 6, 6, 6]) }
  }

  @Test func fourOverrideSetsAreKept() throws {
    let sets = [["scale"], ["offset"], ["scale", "offset"], ["unused"], ["scale", "offset", "unused"]]
    let predictor = try predictor()
    let before = predictor.specializationCounts.compilations
    for set in sets + sets[1...] { try predict(predictor, set) }
    #expect(
      predictor.specializationCounts.compilations - before == 5,
      "the last four are there, what the first cost is counted")
    try predict(predictor, sets[0])
    for set in sets[2...] { try predict(predictor, set) }
    #expect(predictor.specializationCounts.compilations - before == 6)
  }

  @Test func concurrentCallersShareEachOverrideSet() async throws {
    let predictor = try predictor()
    try predict(predictor, ["scale"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for set in [["offset"], ["scale"], ["unused"], ["scale"], ["offset"], ["scale", "offset"]] {
        group.addTask { try predict(predictor, set) }
      }
      try await group.waitForAll()
    }
    #expect(predictor.specializationCounts.compilations == 4, "each set is made once")
  }
}
