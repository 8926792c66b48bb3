import FoundationEssentials
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinMeasuring
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// Plans of graphs whose sizes depend on data: made at the sizes of a sample run, saved, and taken for the sizes they
/// hold for.
@Suite struct SampledPlanTests {
  private static let path = "\(SharedFiles.projectRoot)/Tests/Vectors/DataSizes/picked.onnx"

  private func options(_ units: [String]) -> LoadOptions {
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(units), precision: .full, threads: 1)
    return options
  }

  /// Twelve numbers, so many of them positive.
  private func values(_ positive: Int) throws -> DictionaryFeatureProvider {
    let array = try MultiArray((0..<12).map { Float($0 < positive ? 1 : -1) }, shape: [3, 4])
    return DictionaryFeatureProvider(dictionary: ["x": FeatureValue(multiArray: array)])
  }

  /// The plan of every graph on the reference device, at five positive numbers.
  private func saved() throws -> Plan {
    var options = options(["reference"])
    options.sample = LoadOptions.Sample(try values(5))
    let loaded = try LoadedModel(path: Self.path, options: options)
    let plans = try loaded.shownGraphs.map { graph in
      let explanation = try graph.explain()
      return (plan: try graph.plan(explanation, of: loaded.function), explanation: explanation)
    }
    return try Plan(json: try loaded.plan(plans).json())
  }

  /// The devices of the later graph, as a prediction with so many positive numbers would place it.
  private func devices(_ positive: Int, _ plan: Plan?, _ change: (inout LoadOptions) -> Void = { _ in }) throws
    -> Set<String>
  {
    var options = options(["cpu"])
    options.plan = plan
    change(&options)
    let loaded = try LoadedModel(path: Self.path, options: options)
    let types = SlotTypes(computed: ["at": TensorType(.int64, [2, positive])])
    return Set(try loaded.graph(1, for: types).explain().solution.placement.values)
  }

  @Test func savedPlanIsUsedOnlyForItsSizeBucket() throws {
    let plan = try saved()
    #expect(plan.parts.map(\.name) == ["main.1", "main.2"])
    for positive in 5...8 { #expect(try devices(positive, plan) == ["reference"], "\(positive)") }
    for positive in [4, 9, 12] { #expect(try devices(positive, plan) == ["cpu"], "\(positive)") }
    #expect(try devices(5, nil) == ["cpu"])
    #expect(try devices(6, plan) { $0.plansEverySize = true } == ["cpu"])
    #expect(try devices(5, plan) { $0.plansEverySize = true } == ["reference"], "that very size")
    #expect(try devices(6, plan) { $0.isDeterministic = true } == ["cpu"])
  }

  @Test func firstGraphOfASavedPlanFollowsThePlan() throws {
    var options = options(["cpu"])
    options.plan = try saved()
    let loaded = try LoadedModel(path: Self.path, options: options)
    let explanation = try loaded.shown.explain()
    #expect(Set(explanation.solution.placement.values) == ["reference"])
    let predictor = try PlannedModel(loaded, shown: explanation).predictor(specializationLimit: 2)
    for positive in [5, 7, 3] {
      let outputs = try predictor.predict(values(positive), [:], nil)
      #expect(outputs["y"]?.multiArrayValue?.doubles == [Double](repeating: 2, count: positive))
    }
  }

  @Test func planOfOtherGraphsOrAnotherModelIsRefused() throws {
    var plan = try saved()
    plan.subject.modelKey = "another"
    #expect(throws: RuntimeError.self) { try devices(5, plan) }
    plan = try saved()
    plan.parts[1].name = "main.7"
    for index in plan.nodes.indices where plan.nodes[index].part == "main.2" { plan.nodes[index].part = "main.7" }
    #expect { try devices(5, plan) } throws: { "\($0)".contains("main.7") }
    plan.parts[1].name = "main.1"
    #expect(throws: PlanningError.self) { try plan.validate() }
    plan.parts[1].name = "main.2"
    #expect(throws: PlanningError.self) { try plan.validate() }
  }

  @Test func computePlanHasTheLayersOfEveryGraph() async throws {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let url = URL(filePath: Self.path)
    let plan = try await ComputePlan.load(contentsOf: url, configuration: configuration)
    #expect(plan.graphs.map(\.name) == ["main.1", "main.2"])
    #expect(plan.graphs[0].sampledSizes == nil)
    let found = try #require(plan.graphs[1].sampledSizes?["at"])
    #expect(found.count == 2 && found[0] == 2)
    #expect(plan.graphs[1].holdsUpTo?["at"] != nil)
    #expect(plan.remarks.contains { $0.contains("'main.2'") && $0.contains("sample run") }, "\(plan.remarks)")
    #expect(Set(plan.layers.map(\.graphName)) == ["main.1", "main.2"])
    #expect(abs((plan.graphs.map(\.predicted).reduce(.zero, +) - plan.predicted) / .seconds(1)) < 1e-12)
    guard case .neuralNetwork(let network) = plan.modelStructure else { return }
    let total = network.layers.compactMap { plan.estimatedCost(of: $0)?.weight }.reduce(0, +)
    #expect(abs(total - 1) < 1e-6, "of all graphs together")
    for kind in ["NonZero", "GatherND", "ReduceSum"] {
      let layer = try #require(network.layers.first { $0.type == kind })
      #expect(plan.layer(for: layer)?.graphName == (kind == "NonZero" ? "main.1" : "main.2"), "\(kind)")
    }
    let page = plan.htmlReport()
    #expect(page.contains("graph &#39;main.2&#39;") || page.contains("graph 'main.2'"))
    let loaded = try await Model.load(contentsOf: url, configuration: configuration)
    #expect(loaded.computePlan.graphs.map(\.name) == ["main.1"], "loading runs no sample")
  }

  @Test func sampleInputsOfAPlanCanBeGiven() throws {
    var sampled = options(["cpu"])
    for positive in [0, 1, 12] {
      sampled.sample = LoadOptions.Sample(try values(positive))
      let loaded = try LoadedModel(path: Self.path, options: sampled)
      #expect(loaded.graphs[1]?.sampledSizes == ["at": [2, positive]])
      #expect(loaded.graphs[1]?.sample?.map(\.shape).contains([2, positive]) == true)
      #expect(loaded.sizeRemarks.count == 1)
    }
  }
}
