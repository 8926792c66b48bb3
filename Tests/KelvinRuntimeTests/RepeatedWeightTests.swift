import KelvinGraph
import KelvinReference
import KelvinRuntime
import Testing

/// A weight that is computed from one weight twice, which is computed from another twice, and so on.
@Suite struct RepeatedWeightTests {
  private static let steps = 60

  private func graph() throws -> Graph {
    let type = TensorType(.float32, [1])
    var weight = Weight(Tensor(type, Bytes([Float(1)])))
    for step in 0..<Self.steps {
      let half = weight
      weight = Weight(type, from: [half, half], recipe: WeightRecipe("sum \(step)", [half, half])) { half.dense() }
    }
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let x = try builder.input("x", type)
    let origin = Origin(name: "n", kind: "Test", index: 0)
    let y = try builder.add(Binary(.add), x, builder.constant("w", weight), name: "y", origin: origin)
    builder.output(y)
    return try builder.finish()
  }

  @Test func sourceIsReportedOnce() throws {
    let report = WeightReport(try graph())
    #expect(report.forms.map(\.count) == [1] && report.storedBytes == 4)
  }

  @Test func nameDoesNotGrowWithTheNumberOfPaths() throws {
    let graph = try graph()
    func name(_ graph: Graph) -> String? { graph.values.first { $0.weight != nil }?.name }
    let named = name(graph.namingWeights(for: ["a"]))
    #expect(named.map { $0.utf8.count < 200 } == true)
    // The name depends on the recipe only, not on the shapes of the model.
    #expect(named == name(graph.namingWeights(for: ["b"])) && named != "w")
  }
}
