import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime

/// The context shared by all graphs of a loaded model: devices, cache and costs.
struct LoadContext: Sendable {
  let name: String
  var key: ContentKey
  let function: String
  /// The devices to plan for, which need not be present.
  let inventory: DeviceInventory
  /// The devices that are present.
  let present: DeviceInventory
  let cache: CompiledCache?
  let costs: CostSheet
  let stores: WeightRegistry<MemoryPackedWeights>
  let sources: SourceFiles
  let fallback: DeviceFallback

  /// Runs the passes that the options request on a graph.
  func pass(_ graph: Graph, _ options: LoadOptions) throws -> PassResult {
    let pipeline = Pipeline.standard(ReferenceEvaluator())
    return try (options.lastPass.map { try pipeline.stopping(after: $0) } ?? pipeline).run(graph)
  }

  /// Builds a graph for given input types.
  ///
  /// - Parameter options: provide the shapes of features that `types` does not contain.
  func build(_ part: GraphPart, for types: SlotTypes, _ options: LoadOptions) throws -> PassedGraph {
    let shapes = options.shapes.merging(types.shapes) { _, new in new }.filter {
      part.inputs.contains($0.key) && types.computed[$0.key] == nil && types.values[$0.key] == nil
    }
    WorkBudget.enter(.building)
    let graph = try part.source.graph(
      shapes: shapes, computed: types.computed, values: types.values, evaluator: ReferenceEvaluator())
    return PassedGraph(part: part, passed: try pass(graph, options), types: types)
  }

  /// Compiles a graph for the host of this machine, for a run without a plan.
  func hosted(_ graph: PassedGraph, _ options: LoadOptions) throws -> CompiledModel {
    let context = ModelContext(
      name: name, key: key, function: "\(function)/\(graph.part.name)", graph: graph.passed.graph, inventory: present,
      cache: nil, costs: CostSheet(), sources: sources)
    let request = PlanRequest(
      units: .devices([present.host.info.id]), precision: options.request.precision, threads: options.request.threads)
    let solution = try context.planner.problem(context.graph, request).solve()
    let compiled = try context.compile(solution, precision: request.precision, threads: request.threads)
    WorkBudget.enter(.predicting)
    return compiled
  }
}

/// A graph that was built and passed.
struct PassedGraph {
  let part: GraphPart
  let passed: PassResult
  /// The types that it is built for.
  let types: SlotTypes
  /// The graph's input tensors in the sample run, if its sizes depend on data.
  var sample: [Tensor]?
}
