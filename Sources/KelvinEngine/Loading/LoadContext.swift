import KelvinBasics
import KelvinDevices
import KelvinFeatures
import KelvinGraph
import KelvinImport
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime

/// The options, devices, costs and cache that all graphs of a loaded model share. It builds graphs and runs the passes.
struct LoadContext: Sendable {
  let name: String
  var key: ContentKey
  let function: String
  let options: LoadOptions
  /// The devices to plan for, which need not be present.
  let inventory: DeviceInventory
  /// The devices that are present.
  let present: DeviceInventory
  let cache: CompiledCache?
  let costs: CostSheet
  let stores = WeightRegistry<MemoryPackedWeights>()
  let capacities = DeviceCapacities()
  let sources: SourceFiles
  let fallback: DeviceFallback
  /// The checks of the devices that predictions use.
  let guardian: ResultGuard
  /// The difference between the planned machine and this one; nil if there is none.
  let whatIf: WhatIf?
  /// Remarks for the user about the measurements that costs come from.
  let remarks: [String]

  /// - Parameters:
  ///   - function: the program's function that the options name, once its graphs have been built: the key includes
  ///     files that were opened for them, such as weights of nested programs and external data of sub-graphs.
  ///   - present: the devices that are present.
  /// - Throws: the errors of `LoadOptions.price` and of reading the model's files.
  init(_ program: ModelProgram, _ function: Function, _ options: LoadOptions, _ present: DeviceInventory) throws {
    name = program.source.path
    self.function = options.function ?? program.defaultFunction
    self.present = present
    sources = program.source.opened
    cache = options.cacheDirectory.map { CompiledCache(CacheDirectory($0), kelvinVersion: kelvinVersion) }
    var key = try ContentKey(contentsOf: sources.contents(first: program.source.files), memo: cache?.directory)
    // Results cached for the model belong to its usual graph, so other graphs have other keys.
    if let last = options.lastPass { key = key.with([last]) }
    if !function.hostControlFlow.isEmpty { key = key.with(function.hostControlFlowKey) }
    self.key = key
    whatIf = WhatIf(options.profile, inventory: present, links: options.links)
    var options = options
    (inventory, costs, remarks) = try options.price(present, cache)
    self.options = options
    fallback = DeviceFallback(present, options.request)
    guardian = ResultGuard(present, fallback, options)
  }

  /// Runs the passes that the options request on a graph.
  ///
  /// - Parameter options: the options for this graph; the model's unless given.
  func passed(
    _ graph: Graph, of part: GraphPart, for types: SlotTypes, _ options: LoadOptions? = nil,
    without exclusions: DeviceFallback.Exclusions? = nil
  ) throws -> LoadedGraph {
    let pipeline = Pipeline.standard(ReferenceEvaluator())
    let passed = try (self.options.lastPass.map { try pipeline.stopping(after: $0) } ?? pipeline).run(graph)
    return LoadedGraph(part, passed, types, self, options ?? self.options, without: exclusions)
  }

  /// Builds a graph for given input types, and runs the passes.
  ///
  /// - Parameter options: the options for this graph; the model's unless given. They also provide the shapes of features
  ///   that `types` does not contain.
  func built(
    _ part: GraphPart, for types: SlotTypes, _ options: LoadOptions? = nil,
    without exclusions: DeviceFallback.Exclusions? = nil
  ) throws -> LoadedGraph {
    let shapes = self.options.shapes.merging(types.shapes) { _, new in new }.filter {
      part.inputs.contains($0.key) && types.computed[$0.key] == nil && types.values[$0.key] == nil
    }
    WorkBudget.enter(.building)
    let graph = try part.source.graph(
      shapes: shapes, computed: types.computed, values: types.values, evaluator: ReferenceEvaluator())
    return try passed(graph, of: part, for: types, options, without: exclusions)
  }

  /// Returns the empty graph that stands for a function of host operations only.
  func withoutGraphs() throws -> LoadedGraph {
    var own = options
    if options.plan?.parts.isEmpty == false { own.plan = nil }
    return try passed(Graph(), of: GraphPart(inputs: [], outputs: [], source: EmptyGraph()), for: SlotTypes(), own)
  }

  /// Compiles a graph for the host of this machine, for a run without a plan.
  func hosted(_ graph: LoadedGraph) throws -> CompiledModel {
    let context = ModelContext(
      name: name, key: key, function: "\(function)/\(graph.part.name)", graph: graph.context.graph, inventory: present,
      cache: nil, costs: CostSheet(), sources: sources)
    let request = PlanRequest(
      units: .devices([present.host.info.id]), precision: options.request.precision, threads: options.request.threads)
    let solution = try context.planner.problem(context.graph, request).solve()
    let compiled = try context.compile(solution, precision: request.precision, threads: request.threads)
    WorkBudget.enter(.predicting)
    return compiled
  }
}

extension Function {
  /// The facts that set apart the key of a model whose host executes control flow.
  var hostControlFlowKey: [String] { ["walking"] + hostControlFlow.sorted() }
}

private struct EmptyGraph: GraphSource {
  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph { Graph() }
}
