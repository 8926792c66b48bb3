import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Testing

/// How a classifier's features come out of its probabilities.
@Suite struct ClassifierOutputTests {
  private struct NoSource: GraphSource {
    func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph { Graph() }
  }

  /// The features that a classifier makes of a model's output.
  private func features(_ probabilities: [Float], labels: [String]) throws -> DictionaryFeatureProvider {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let x = try builder.input("x", TensorType(.float32, [probabilities.count]))
    let y = try builder.add(
      Unary(UnaryFunction(.negate)), x, name: "y", origin: Origin(name: "y", kind: "Neg", index: 0))
    builder.output(y)
    let graph = try builder.finish()
    let request = PlanRequest(units: .devices(["cpu"]), precision: .full, threads: 1)
    let solution = try Planner(inventory: deviceInventory, costs: CostSheet()).problem(graph, request).solve()
    let model = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory,
      precision: .full, threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    let session = try model.makeSession()
    _ = try session.run([Tensor(probabilities.map(-), [probabilities.count])])
    let function = Function(
      inputs: [], outputs: [Feature(name: "label", type: .string)],
      classifier: Classifier(
        labels: .strings(labels), labelOutput: "label", probabilitiesOutput: "probabilities", graphOutput: 0),
      graph: NoSource())
    return try FeatureBinding(function: function).read(session)
  }

  @Test func theMostProbableLabelWins() throws {
    let features = try features([0.1, 0.7, 0.2], labels: ["a", "b", "c"])
    #expect(features["label"]?.stringValue == "b")
    #expect(features["probabilities"]?.dictionaryValue.count == 3)
  }

  @Test func theLargerOfTwoProbabilitiesOfOneLabelStands() throws {
    let features = try features([0.25, 0.5, 0.125], labels: ["crane", "b", "crane"])
    #expect(features["probabilities"]?.dictionaryValue[.string("crane")] == 0.25)
  }

  @Test func whatIsNoNumberNeverWinsAndIsNotHidden() throws {
    let features = try features([.nan, 2, 1, .nan], labels: ["a", "b", "c", "b"])
    #expect(features["label"]?.stringValue == "b")
    let probabilities = features["probabilities"]?.dictionaryValue ?? [:]
    #expect(probabilities[.string("a")]?.isNaN == true)
    #expect(probabilities[.string("b")] == 2)
  }
}
