import KelvinDevices
import KelvinFeatures
import KelvinFormats
package import KelvinGraph
package import KelvinPasses
package import KelvinPlanning
import KelvinReference
package import KelvinRuntime

/// A model file read, its function's graph built for its input shapes and passed: ready to be planned and compiled.
package struct LoadedModel: Sendable {
  package let program: ModelProgram
  package let functionName: String
  package let function: Function
  /// What the passes did, by the source's names.
  package let changes: [PassChange]
  package let context: ModelContext
  package let options: LoadOptions
  /// What the user should know once: a stale profile, a cache that cannot be written.
  package let remarks: [String]
  /// Why a plan of this model is about a machine that is not this one; nil where it is about this one.
  package let whatIf: WhatIf?

  /// Reads a model.
  ///
  /// - Throws: `FormatError`, `GraphError` or `RuntimeError`.
  package init(path: String, options: LoadOptions, inventory: DeviceInventory = deviceInventory) throws {
    try self.init(program: readModel(at: path), options: options, inventory: inventory)
  }

  package init(program: ModelProgram, options: LoadOptions, inventory: DeviceInventory = deviceInventory) throws {
    try self.init(program: program, options: options, inventory: inventory, sharing: nil)
  }

  /// The same model for other input shapes, planned anew: a plan holds for the shapes it was made for. Compiled forms
  /// of both share what they can of their packed weights.
  package func with(shapes: [String: Shape]) throws -> LoadedModel {
    var options = options
    options.shapes.merge(shapes) { _, new in new }
    options.plan = nil
    return try LoadedModel(program: program, options: options, inventory: context.inventory, sharing: context)
  }

  private init(
    program: ModelProgram, options: LoadOptions, inventory: DeviceInventory, sharing sibling: ModelContext?
  ) throws {
    let name = options.function ?? program.defaultFunction
    let function = try program.function(name)
    let inputNames = Set(function.inputs.map(\.name))
    if let unknown = options.shapes.keys.sorted().first(where: { !inputNames.contains($0) }) {
      throw RuntimeError.invalidInput(
        name: unknown, reason: "the model has no such input; it has \(inputNames.sorted().joined(separator: ", "))")
    }
    let evaluator = ReferenceEvaluator()
    let raw = try function.graph.graph(shapes: options.shapes, evaluator: evaluator)
    var pipeline = Pipeline.standard(evaluator)
    if let last = options.lastPass { pipeline = try pipeline.stopping(after: last) }
    let passed = try pipeline.run(raw)

    var options = options
    let priced = try PricedInventory(options, inventory)
    var costs = priced.costs
    var remarks = priced.remarks
    if let threads = priced.threads { options.request.threads = threads }
    let cache =
      sibling?.cache
      ?? options.cacheDirectory.map { CompiledCache(CacheDirectory($0), kelvinVersion: kelvinVersion) }
    var key = try sibling?.key ?? ContentKey(contentsOf: program.source.files, memo: cache?.directory)
    // What is kept for the model is kept for its usual graph.
    if sibling == nil, let last = options.lastPass { key = ContentKey([key.description, last]) }
    if let cache, options.profile == nil {
      let store = ProfileStore(cache.directory, kelvinVersion: kelvinVersion)
      let planner = Planner(inventory: inventory, costs: CostSheet())
      let (units, helpers) = try planner.devices(for: options.request)
      let planned = options.plan.map { inventory.devices(named: $0.placement.values) } ?? []
      let stored = store.load(devices: (units + helpers + planned).map(\.info))
      costs = try CostSheet(stored.profile).with(links: options.links, devices: inventory)
      remarks += stored.remarks.map { "measurements were set aside: \($0)" }
    }
    self.program = program
    functionName = name
    self.function = function
    changes = passed.changes
    self.options = options
    whatIf = priced.whatIf
    context = ModelContext(
      name: program.source.path, key: key, function: name, graph: passed.graph, inventory: priced.inventory,
      cache: cache,
      costs: costs, stores: sibling?.stores ?? WeightRegistry())
    self.remarks = remarks + (options.plan.map(context.remarks(on:)) ?? [])
  }

  /// The plan the options ask for: the given one, or the best.
  package func explain(_ request: PlanRequest? = nil) throws -> PlanExplanation {
    let request = request ?? options.request
    if let plan = options.plan { return try context.explain(adopting: plan, request) }
    return try context.explain(request)
  }

  /// What the user should know of a plan: which nodes run outside the units asked for, and why.
  package func remarks(on explanation: PlanExplanation) throws(RuntimeError) -> [String] {
    try context.remarks(on: explanation, options.request)
  }

  /// Compiles a plan.
  package func compile(
    _ explanation: PlanExplanation, observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledModel {
    try context.compile(
      explanation.solution, precision: options.request.precision, threads: options.request.threads,
      isDeterministic: options.isDeterministic, observer: observer)
  }
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
