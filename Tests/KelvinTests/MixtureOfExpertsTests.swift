import KelvinEngine
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Mixtures of experts compute the tokens that go to an expert, and no others but for what fills up a tile.
@Suite struct MixtureOfExpertsTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Microsoft"

  @Test(arguments: ["moe_relu", "moe_gate", "moe_three_axes", "qmoe_4_bits_blocks", "qmoe_8_bits_rows"])
  func expertLoopsIterateOnlyOverTheirTokens(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    let function = try readModel(at: "\(Self.folder)/\(name).onnx").function(nil)
    var graph = try function.graph(shapes: [:], evaluator: ReferenceEvaluator())
    let loops = graph.nodes.filter { $0.op is Loop }
    let routes = try #require(
      vector.inputs.first { $0.tensor.shape.rank == 2 && $0.tensor.shape[1] == loops.count }?.tensor)
    let best = try #require(graph.nodes.first { ($0.op as? TopK)?.axis == 1 && $0.name.hasSuffix("/best") })
    let tokens = routes.shape[0]
    let chosen = graph[best.outputs[0]].type.shape[1]
    let body = try #require(loops.first?.region(.body)?.graph)
    let linear = try #require(body.nodes.first { $0.op is Linear })
    let tile = body[linear.outputs[0]].type.shape[0]

    // The count of a loop is its last result.
    graph.outputs = try loops.map { try #require($0.outputs.last) }
    let iterations = try graph.run(vector, on: ["cpu"]).map { $0.integers[0] }
    let computed = iterations.reduce(0, +) * tile
    #expect(computed >= tokens * chosen)
    #expect(computed <= tokens * chosen + loops.count * (tile - 1), "\(iterations) of \(tile)")
    #expect(computed < tokens * loops.count)
  }
}
