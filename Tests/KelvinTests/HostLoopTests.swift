import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// ONNX models, ML Programs and neural networks with loops whose sizes are known for each iteration, and branches whose
/// sizes are known by the side that is taken, against vectors of an independent implementation.
@Suite struct HostLoopTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/HostExecution"
  static let cases = fileStems(in: folder, endingWith: ".kv")
  static let models =
    fileStems(in: folder, endingWith: ".onnx").map { "\($0).onnx" }
    + fileStems(in: folder, endingWith: ".mlmodel").map { "\($0).mlmodel" }

  @Test func testVectorsExist() { #expect(Self.cases.count == 124 && Self.models.count == 31) }

  private func loaded(_ model: String, _ units: [String], sample: LoadOptions.Sample? = nil) throws -> LoadedModel {
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(units), precision: .full, threads: 1)
    options.sample = sample
    return try LoadedModel(path: "\(Self.folder)/\(model)", options: options)
  }

  private func predictor(_ model: String, _ units: [String]) throws -> Predictor {
    let loaded = try loaded(model, units)
    return try PlannedModel(loaded, shown: loaded.shown.explain()).predictor(specializationLimit: 4)
  }

  private func inputs(_ vector: Vector) -> DictionaryFeatureProvider {
    let values = vector.inputs.map { name, tensor in
      // There are no arrays of booleans.
      let plain = tensor.type.scalar == .bool ? tensor.converted(to: .int32) : tensor
      return (name, FeatureValue(multiArray: MultiArray(plain)))
    }
    return DictionaryFeatureProvider(dictionary: Dictionary(uniqueKeysWithValues: values))
  }

  /// One model predicts for all its vectors in turn, and again.
  @Test(arguments: models) func predictionsMatchTheVectors(model: String) throws {
    let stem = model.split(separator: ".")[0]
    for units in Tier.some(2, of: [["cpu"], ModelFixture.fastDevices, ["reference"]]) {
      let predictor = try predictor(model, units)
      for name in Self.cases + Self.cases where name.split(separator: "_").dropLast().joined(separator: "_") == stem {
        let vector = try Vector(path: "\(Self.folder)/\(name).kv")
        let outputs = try predictor.predict(inputs(vector), [:], nil)
        for (output, expected) in vector.outputs {
          let found = try #require(outputs[output]?.multiArrayValue?.tensor, "\(name): \(output)")
          #expect(found.shape == expected.shape, "\(name) on \(units): \(output)")
          let isClose = zip(found.doubles, expected.doubles).allSatisfy { abs($0 - $1) <= 2e-6 + 1e-5 * abs($1) }
          #expect(isClose, "\(name) on \(units): \(output): \(found.doubles), expected \(expected.doubles)")
        }
      }
    }
  }

  /// Only networks have a fractional number of iterations: iterations run while their count is less.
  @Test(arguments: [(2.5, 3), (0.25, 1), (-0.5, 0), (.nan, 0), (-.infinity, 0)] as [(Float, Int)])
  func fractionalIterationCountRoundsUp(given: Float, iterations: Int) throws {
    let x = FeatureValue(multiArray: try MultiArray([1, 2, 3] as [Float], shape: [3]))
    let count = FeatureValue(multiArray: try MultiArray([given], shape: [1]))
    let outputs = try predictor("longer_network.mlmodel", ["cpu"]).predict(
      DictionaryFeatureProvider(dictionary: ["x": x, "trips": count]), [:], nil)
    #expect(outputs["y"]?.multiArrayValue?.shape == [3 << iterations])
  }

  /// The body occurs twice: the host executes a loop in a loop together with the outer one.
  @Test func hostLoopHasItsOwnParts() throws {
    let function = try readModel(at: "\(Self.folder)/nested.onnx").function(nil)
    let outer = try #require(function.loopsAroundGraphs[function.graphParts[1].name])
    #expect(outer.name == "outside" && outer.rows.map(\.result) == ["y"])
    let inner = try #require(outer.body.lazy.compactMap { if case .loop(let loop) = $0 { loop } else { nil } }.first)
    #expect(inner.name == "inside" && inner.limit == "own" && inner.carried.map(\.start) == ["zero"])
    #expect(Set(inner.captured).isSuperset(of: ["first", "line", "scale"]))
    #expect(function.loopsAroundGraphs[try #require(inner.body.first?.graphParts.first?.name)]?.name == "inside")
    #expect(function.loopsAroundGraphs["main"] == nil)
  }

  /// The host executes a loop in a branch together with the branch; the other side is a graph.
  @Test func hostBranchHasPartsForEachSide() throws {
    let function = try readModel(at: "\(Self.folder)/guarded.onnx").function(nil)
    let branch = try #require(
      function.parts.lazy.compactMap { if case .branch(let branch) = $0 { branch } else { nil } }.first)
    #expect(branch.name == "side" && branch.condition == "is_there" && branch.outputs == ["chosen", "number"])
    #expect(branch.then.left == ["long", "trips"] && branch.otherwise.left == ["short", "none"])
    #expect(branch.then.parts.map(\.place) == ["graph 'main.2.then.1'", "loop 'grow'"])
    #expect(branch.otherwise.parts.map(\.place) == ["graph 'main.2.else'"])
    #expect(function.loopsAroundGraphs["main.2.then.2"]?.name == "grow")
    #expect(function.loopsAroundGraphs["main.2.else"] == nil)
  }

  /// A host-executed loop of a network has its initial values before it, and contains other host-executed control flow.
  @Test func hostLoopOfANetworkContainsItsBranches() throws {
    let function = try readModel(at: "\(Self.folder)/list_network.mlmodel").function(nil)
    #expect(function.parts.map(\.place) == ["graph 'main.1.start'", "loop 'write'", "graph 'main.2'"])
    let loop = try #require(function.loopsAroundGraphs["main.1.1"])
    let walked = loop.body.map(\.place).filter { !$0.hasPrefix("graph") }
    #expect(walked.sorted() == ["branch 'grow'", "loop 'double'"])
  }

  @Test func planShowsTheGraphsOfTheFirstIteration() throws {
    let vector = try Vector(path: "\(Self.folder)/bags_0.kv")
    let sample = LoadOptions.Sample(inputs(vector))
    let loaded = try loaded("bags.onnx", ["cpu"], sample: sample)
    #expect(loaded.graphs.allSatisfy { $0 != nil })
    #expect(loaded.remarks.contains { $0.contains("in the first iteration of the loop 'each'") })
    let graph = try #require(loaded.graphs.compactMap { $0 }.first { $0.sampledValues?["a1"] != nil })
    #expect(graph.sampledValues == ["a1": [0], "b1": [2]])
  }

  @Test func cancellationStopsAnEndlessLoop() throws {
    let vector = try Vector(path: "\(Self.folder)/open_rows_0.kv")
    let cancellation = Cancellation()
    cancellation.cancel()
    #expect { try predictor("open_rows.onnx", ["cpu"]).predict(inputs(vector), [:], cancellation) } throws: {
      ($0 as? ModelError)?.code == .predictionCancelled
    }
  }
}
