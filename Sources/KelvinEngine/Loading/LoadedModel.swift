import KelvinDevices
import KelvinFeatures
import KelvinFormats
package import KelvinGraph
package import KelvinPasses
package import KelvinPlanning
import KelvinReference
package import KelvinRuntime
import KelvinSteps

/// A model file read, its function's graphs built for its input shapes and passed: ready to be planned and compiled.
package struct LoadedModel: Sendable {
  package let program: ModelProgram
  package let functionName: String
  package let function: Function
  /// By graph part; nil where the sizes of a graph depend on data: it is built when the function runs.
  package let graphs: [LoadedGraph?]
  /// The graph that plans and measurements are about: the one that the options name, or the one with the most work.
  package let shown: LoadedGraph
  package let options: LoadOptions
  /// What the user should know once: a stale profile, a cache that cannot be written.
  package let remarks: [String]
  /// Why a plan of this model is about a machine that is not this one; nil where it is about this one.
  package let whatIf: WhatIf?
  private let site: LoadSite

  /// What the passes did to the shown graph, by the source's names.
  package var changes: [PassChange] { shown.changes }
  package var context: ModelContext { shown.context }

  /// Reads a model.
  ///
  /// - Throws: `FormatError`, `GraphError` or `RuntimeError`.
  package init(path: String, options: LoadOptions, inventory: DeviceInventory = deviceInventory) throws {
    try self.init(program: readModel(at: path), options: options, inventory: inventory)
  }

  package init(program: ModelProgram, options: LoadOptions, inventory: DeviceInventory = deviceInventory) throws {
    let name = options.function ?? program.defaultFunction
    let function = try program.function(name)
    let inputNames = Set(function.inputs.map(\.name))
    if let unknown = options.shapes.keys.sorted().first(where: { !inputNames.contains($0) }) {
      throw RuntimeError.invalidInput(
        name: unknown, reason: "the model has no such input; it has \(inputNames.sorted().joined(separator: ", "))")
    }
    let built = try function.builtGraphs(shapes: options.shapes, evaluator: ReferenceEvaluator())
    let passed = try built.map { built in try built.graph.map { try Self.pipeline(options).run($0) } }

    var options = options
    let priced = try PricedInventory(options, inventory)
    var costs = priced.costs
    var remarks = priced.remarks
    if let threads = priced.threads { options.request.threads = threads }
    let cache = options.cacheDirectory.map { CompiledCache(CacheDirectory($0), kelvinVersion: kelvinVersion) }
    var key = try ContentKey(contentsOf: program.source.files, memo: cache?.directory)
    // What is kept for the model is kept for its usual graph.
    if let last = options.lastPass { key = ContentKey([key.description, last]) }
    if let cache, options.profile == nil {
      let store = ProfileStore(cache.directory, kelvinVersion: kelvinVersion)
      let planner = Planner(inventory: inventory, costs: CostSheet())
      let (units, helpers) = try planner.devices(for: options.request)
      let planned = options.plan.map { inventory.devices(named: $0.placement.values) } ?? []
      let stored = store.load(devices: (units + helpers + planned).map(\.info))
      costs = try CostSheet(stored.profile).with(links: options.links, devices: inventory)
      remarks += stored.remarks.map { "measurements were set aside: \($0)" }
    }
    let site = LoadSite(
      name: program.source.path, key: key, inventory: priced.inventory, cache: cache, costs: costs,
      stores: WeightRegistry())
    let share = try OptionShare(options, built.map(\.part), passed.map { $0?.graph })
    let graphs = zip(built, passed).enumerated().map { index, pair in
      pair.1.map { LoadedGraph(pair.0.part, $0, site, function: name, share.options(of: index)) }
    }
    // A function of host steps alone is shown as the graph that it does not have.
    let empty = GraphPart(inputs: [], outputs: [], source: EmptyGraph())
    let nothing = try LoadedGraph(empty, Self.pipeline(options).run(Graph()), site, function: name, options)
    shown = share.shown.flatMap { graphs[$0] } ?? nothing
    self.program = program
    functionName = name
    self.function = function
    self.graphs = graphs
    self.options = options
    self.site = site
    whatIf = priced.whatIf
    self.remarks = remarks + (options.plan.map(shown.context.remarks(on:)) ?? [])
  }

  /// The output of the shown graph that has one score for each class; nil where it has none.
  package var scoresOutput: Int? {
    function.classification.flatMap { shown.part.outputs.firstIndex(of: $0.scores) }
  }

  /// What to say where plans and measurements are about one graph of several; nil where there is one.
  package var partRemark: String? {
    guard graphs.count > 1 else { return nil }
    let names = function.graphParts.map(\.name).joined(separator: ", ")
    return "the function has \(graphs.count) graphs (\(names)); this is about '\(shown.part.name)'"
  }

  /// Why nothing is kept between runs, where something was to be kept.
  package var cacheRemarks: [String] {
    (context.cache?.directory.complaint).map { ["nothing is kept for the next run: \($0)"] } ?? []
  }

  private static func pipeline(_ options: LoadOptions) throws -> Pipeline {
    let pipeline = Pipeline.standard(ReferenceEvaluator())
    return try options.lastPass.map { try pipeline.stopping(after: $0) } ?? pipeline
  }

  /// One of the graphs for other types of its inputs, planned anew: a plan holds for the sizes it was made for.
  /// Compiled forms of both share what they can of their packed weights.
  package func graph(_ index: Int, for types: SlotTypes) throws -> LoadedGraph {
    let part = function.graphParts[index]
    var options = graphs[index]?.options ?? options
    options.shapes.merge(types.shapes) { _, new in new }
    options.plan = nil
    let shapes = options.shapes.filter {
      part.inputs.contains($0.key) && types.computed[$0.key] == nil && types.values[$0.key] == nil
    }
    let raw = try part.source.graph(
      shapes: shapes, computed: types.computed, values: types.values, evaluator: ReferenceEvaluator())
    let passed = try Self.pipeline(options).run(raw)
    if graphs[index] == nil {
      // Names of a graph that is only now known were none of the shown one's, which has refused them.
      let names = Set(FlatGraph(passed.graph).placedNames)
      options.request.pins = options.request.pins.filter { names.contains($0.key) }
    }
    return LoadedGraph(part, passed, site, function: functionName, options)
  }

  /// The plan of the shown graph that the options ask for: the given one, or the best.
  package func explain(_ request: PlanRequest? = nil) throws -> PlanExplanation { try shown.explain(request) }

  /// What the user should know of a plan of the shown graph: which nodes run outside the units asked for, and why.
  package func remarks(on explanation: PlanExplanation) throws(RuntimeError) -> [String] {
    try shown.remarks(on: explanation)
  }

  /// Compiles a plan of the shown graph.
  package func compile(
    _ explanation: PlanExplanation, observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledModel {
    try shown.compile(explanation, observer: observer)
  }

  /// Compiles the graphs besides the shown one that are known.
  ///
  /// - Parameter compiled: the shown one.
  /// - Returns: by graph part; nil for what is compiled when the function runs.
  package func compiledGraphs(
    _ compiled: CompiledModel, observer: CompiledModel.Observer = .init()
  ) throws -> [CompiledModel?] {
    try graphs.map { graph in
      guard let graph, graph.part.name != shown.part.name else { return graph == nil ? nil : compiled }
      return try graph.compile(graph.explain(), observer: .init(isCancelled: observer.isCancelled))
    }
  }
}

/// What a graph is specialised by: the sizes of the function's inputs, the types of what earlier parts computed, and
/// the elements on which sizes depend.
package struct SlotTypes: Hashable, Sendable {
  package var shapes: [String: Shape]
  package var computed: [String: TensorType]
  package var values: [String: Tensor]

  package init(
    shapes: [String: Shape] = [:], computed: [String: TensorType] = [:], values: [String: Tensor] = [:]
  ) {
    self.shapes = shapes
    self.computed = computed
    self.values = values
  }

  /// Whether a graph's inputs have these types.
  func fit(_ graph: Graph) -> Bool {
    func input(_ name: String) -> TensorType? {
      graph.inputs.first { graph[$0].name == name }.map { graph[$0].type }
    }
    return shapes.allSatisfy { input($0.key)?.shape == $0.value } && computed.allSatisfy { input($0.key) == $0.value }
  }
}

private struct EmptyGraph: GraphSource {
  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph { Graph() }
}

extension ModelProgram {
  /// - Parameter name: nil for the default.
  /// - Throws: `invalidChoice` for a name the model does not have.
  package func function(_ name: String?) throws(RuntimeError) -> Function {
    let name = name ?? defaultFunction
    guard let function = functions[name] else {
      let names = functions.keys.sorted().joined(separator: ", ")
      throw .invalidChoice("the model has no function '\(name)'; it has \(names)")
    }
    return function
  }
}
