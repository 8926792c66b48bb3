import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime

/// What all graphs of a loaded model share: the machine, what is kept, what things cost.
struct LoadContext: Sendable {
  let name: String
  var key: ContentKey
  let function: String
  /// The devices to plan for, which need not be there.
  let inventory: DeviceInventory
  /// The devices that are here.
  let present: DeviceInventory
  let cache: CompiledCache?
  let costs: CostSheet
  let stores: WeightRegistry<MemoryPackedWeights>
  let sources: SourceFiles
  let fallback: DeviceFallback

  /// A graph with the passes that the options ask for.
  func pass(_ graph: Graph, _ options: LoadOptions) throws -> PassResult {
    let pipeline = Pipeline.standard(ReferenceEvaluator())
    return try (options.lastPass.map { try pipeline.stopping(after: $0) } ?? pipeline).run(graph)
  }

  /// A graph for given types of what it reads.
  ///
  /// - Parameter options: their shapes are those of the features that `types` leaves out.
  func build(_ part: GraphPart, for types: SlotTypes, _ options: LoadOptions) throws -> PassedGraph {
    let shapes = options.shapes.merging(types.shapes) { _, new in new }.filter {
      part.inputs.contains($0.key) && types.computed[$0.key] == nil && types.values[$0.key] == nil
    }
    WorkBudget.enter(.building)
    let graph = try part.source.graph(
      shapes: shapes, computed: types.computed, values: types.values, evaluator: ReferenceEvaluator())
    return PassedGraph(part: part, passed: try pass(graph, options), types: types)
  }

  /// A graph compiled for the host of this machine, for a run that no plan is about.
  func hosted(_ graph: PassedGraph, _ options: LoadOptions) throws -> SessionPool {
    let context = ModelContext(
      name: name, key: key, function: "\(function)/\(graph.part.name)", graph: graph.passed.graph, inventory: present,
      cache: nil, costs: CostSheet(), sources: sources)
    let request = PlanRequest(
      units: .devices([present.host.info.id]), precision: options.request.precision, threads: options.request.threads)
    let solution = try context.planner.problem(context.graph, request).solve()
    let compiled = try context.compile(solution, precision: request.precision, threads: request.threads)
    WorkBudget.enter(.predicting)
    return SessionPool(compiled, ExecutionContextPool())
  }
}

/// A graph that is built and passed.
struct PassedGraph {
  let part: GraphPart
  let passed: PassResult
  /// What it is built for.
  let types: SlotTypes
  /// Where its sizes depend on data: what the run that found them leaves at its inputs.
  var sample: [Tensor]?
}
