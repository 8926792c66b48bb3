import KelvinDevices
import KelvinFeatures
package import KelvinGraph
import KelvinImport
package import KelvinMeasurements
package import KelvinPasses
package import KelvinPlanning
import KelvinReference
package import KelvinRuntime
import KelvinHostOperations

/// A model file read, its function's graphs built for its input shapes and passed: ready to be planned and compiled.
package struct LoadedModel: Sendable {
  package let program: ModelProgram
  package let functionName: String
  package private(set) var function: Function
  /// By graph part; nil where the sizes of a graph depend on data and no sample run found them: it is built when the
  /// function runs.
  package private(set) var graphs: [LoadedGraph?]
  /// The graph that plans and measurements are about: the one that the options name, or the one with the most work.
  package let shown: LoadedGraph
  package let options: LoadOptions
  /// What the user should know once: a stale profile, a cache that cannot be written.
  package let remarks: [String]
  /// Those of `remarks` that are about sizes which depend on data.
  package let sizeRemarks: [String]
  /// Why a plan of this model is about a machine that is not this one; nil where it is about this one.
  package let whatIf: WhatIf?
  private var site: LoadContext

  /// What the passes did to the shown graph, by the source's names.
  package var changes: [PassChange] { shown.changes }
  /// The graphs that plans and measurements of the function show: all that are known, or the one that the options name.
  package var shownGraphs: [LoadedGraph] {
    let known = graphs.compactMap { $0 }
    return options.part == nil && !known.isEmpty ? known : [shown]
  }
  package var context: ModelContext { shown.context }

  /// Reads a model.
  ///
  /// - Throws: `FormatError`, `GraphError` or `RuntimeError`.
  package init(path: String, options: LoadOptions, inventory: DeviceInventory = deviceInventory) throws {
    try self.init(
      program: readModel(at: path, allowsLinks: options.allowsLinks), options: options, inventory: inventory)
  }

  /// - Throws: as `init(path:options:inventory:)`; `FileError` where a file of the model changed since it was opened.
  package init(program: ModelProgram, options: LoadOptions, inventory: DeviceInventory = deviceInventory) throws {
    self = try program.source.opened.vouching { try LoadedModel(reading: program, options, inventory) }
  }

  private init(reading program: ModelProgram, _ options: LoadOptions, _ inventory: DeviceInventory) throws {
    self = try program.function(options.function).settled { function in
      try LoadedModel(program, function, options, inventory)
    }
  }

  /// - Throws: as `init(path:options:inventory:)`; `DynamicShapeControlFlow`.
  private init(
    _ program: ModelProgram, _ function: Function, _ options: LoadOptions, _ inventory: DeviceInventory
  ) throws {
    let name = options.function ?? program.defaultFunction
    let inputNames = Set(function.inputs.map(\.name))
    if let unknown = options.shapes.keys.sorted().first(where: { !inputNames.contains($0) }) {
      throw RuntimeError.invalidInput(
        name: unknown, reason: "the model has no such input; it has \(inputNames.sorted().joined(separator: ", "))")
    }
    let built = try function.evenGraphs(shapes: options.shapes, evaluator: ReferenceEvaluator())

    var options = options
    let priced = try PricedInventory(options, inventory)
    var costs = priced.costs
    var remarks = priced.remarks
    if let threads = priced.threads { options.request.threads = threads }
    let cache = options.cacheDirectory.map { CompiledCache(CacheDirectory($0), kelvinVersion: kelvinVersion) }
    // With what was opened for the graphs: a nested program's weights, what sub-graphs keep outside of the file.
    var key = try ContentKey(
      contentsOf: program.source.opened.contents(first: program.source.files), memo: cache?.directory)
    // What is kept for the model is kept for its usual graph.
    if let last = options.lastPass { key = ContentKey([key.description, last]) }
    if !function.hostControlFlow.isEmpty { key = key.runningOnHost(function.hostControlFlow) }
    if let cache, options.profile == nil {
      let store = ProfileStore(cache.directory, kelvinVersion: kelvinVersion)
      let planner = Planner(inventory: inventory, costs: CostSheet())
      let (units, helpers) = try planner.devices(for: options.request)
      let planned = options.plan.map { inventory.devices(named: $0.usedDevices) } ?? []
      let stored = store.load(devices: (units + helpers + planned).map(\.info))
      costs = try CostSheet(stored.profile).with(links: options.links, devices: inventory)
      remarks += stored.remarks.map { "measurements were set aside: \($0)" }
    }
    let site = LoadContext(
      name: program.source.path, key: key, function: name, inventory: priced.inventory, present: inventory,
      cache: cache, costs: costs, stores: WeightRegistry(), sources: program.source.opened,
      fallback: DeviceFallback(inventory, options.request))
    var passed = try built.map { built in
      try built.graph.map {
        PassedGraph(
          part: built.part, passed: try site.pass($0, options), types: SlotTypes(of: $0, computed: built.computed))
      }
    }
    var sizeRemarks: [String] = []
    if let sample = options.sample {
      let found = try SampleRun(function: function, site: site, options: options, sample: sample).found(besides: passed)
      passed = found.graphs
      sizeRemarks = found.remarks
    }
    let share = try OptionShare(options, built.map(\.part), passed)
    let graphs = passed.enumerated().map { index, graph in
      graph.map { LoadedGraph($0, site, share.options(of: index)) }
    }
    // A function of host steps alone is shown as the graph that it does not have.
    let empty = GraphPart(inputs: [], outputs: [], source: EmptyGraph())
    var withoutPlan = options
    if options.plan?.parts.isEmpty == false { withoutPlan.plan = nil }
    let nothing = LoadedGraph(try site.build(empty, for: SlotTypes(), options), site, withoutPlan)
    shown = share.shown.flatMap { graphs[$0] } ?? nothing
    self.program = program
    functionName = name
    self.function = function
    self.graphs = graphs
    self.options = options
    self.site = site
    whatIf = priced.whatIf
    if let plan = options.plan, !plan.parts.isEmpty { try shown.context.check(plan) }
    self.sizeRemarks = sizeRemarks
    site.fallback.usualSize = Self.usualSize(function, graphs)
    self.remarks = remarks + sizeRemarks + (options.plan.map(shown.context.remarks(on:)) ?? [])
  }

  private static func usualSize(_ function: Function, _ graphs: [LoadedGraph?]) -> Int {
    let flexible = Set(function.inputs.filter(\.isFlexible).map(\.name))
    var counts: [String: Int] = [:]
    for graph in graphs.compactMap({ $0?.context.graph }) {
      for input in graph.inputs where flexible.contains(graph[input].name) {
        counts[graph[input].name] = graph[input].type.shape.count
      }
    }
    return counts.values.reduce(0, +)
  }

  /// What the model does without.
  package var fallback: DeviceFallback { site.fallback }

  /// The output of the shown graph that has one score for each class; nil where it has none.
  package var scoresOutput: Int? {
    function.classification.flatMap { shown.part.outputs.firstIndex(of: $0.scores) }
  }

  /// What to say where something is about the shown graph alone; nil where the function has no other.
  package var partRemark: String? {
    guard graphs.count > 1 else { return nil }
    let names = function.graphParts.map(\.name).joined(separator: ", ")
    return "the function has \(graphs.count) graphs (\(names)); this is about '\(shown.part.name)'"
  }

  /// Why nothing is kept between runs, where something was to be kept, and what of it was not to be believed.
  package var cacheRemarks: [String] { context.cache?.directory.remarks ?? [] }

  /// The key of all graphs that are known.
  private var graphKey: ContentKey { ContentKey(graphs.compactMap { $0?.context.graphKey.description }) }

  /// Keeps what running plans of this model against one another has shown, for every later plan of this user.
  ///
  /// - Returns: what the user should know; empty where nothing is to be kept, or all went well.
  package func keep(_ trials: [TriedPlans]) throws -> [String] {
    guard let cache = context.cache, options.profile == nil else { return [] }
    return try ProfileStore(cache.directory, kelvinVersion: kelvinVersion).save(
      trials, devices: context.inventory.devices(named: trials.flatMap(\.devices)).map(\.info))
  }

  /// One document of plans, in the order of their graphs.
  ///
  /// - Parameter plans: of `shownGraphs`, with what they were made from.
  package func plan(_ plans: [(plan: Plan, explanation: PlanExplanation)]) -> Plan {
    let all = plans.map {
      Dictionary($0.explanation.singleDevices.map { ($0.device, $0.predicted) }) { first, _ in first }
    }
    let sums = (all.first ?? [:]).keys.compactMap { device -> Plan.SingleDevice? in
      let seconds = all.compactMap { $0[device] }
      return seconds.count == all.count ? Plan.SingleDevice(device: device, predicted: seconds.reduce(0, +)) : nil
    }
    let best = sums.min { ($0.predicted, $0.device) < ($1.predicted, $1.device) }
    return Plan(joining: plans.map(\.plan), graph: graphKey.description, singleDevice: best)
  }

  /// One of the graphs for other types of its inputs, planned anew unless a saved plan of the graph serves these sizes.
  /// Compiled forms of both share what they can of their packed weights.
  ///
  /// - Parameter exclusions: what it is planned without; nil for what predictions of the usual sizes do without.
  package func graph(
    _ index: Int, for types: SlotTypes, without exclusions: DeviceFallback.Exclusions? = nil
  ) throws -> LoadedGraph {
    let part = function.graphParts[index]
    var options = graphs[index]?.options ?? options
    options.shapes.merge(types.shapes) { _, new in new }
    options.plan = nil
    options.tuning = options.tuning.afterLoading
    let built = try site.build(part, for: types, options)
    if graphs[index] == nil {
      // Names of a graph that is only now known were none of the shown one's, which has refused them.
      let names = Set(FlatGraph(built.passed.graph).placedNames)
      options.request.pins = options.request.pins.filter { names.contains($0.key) }
    }
    let graph = LoadedGraph(built, site, options, without: exclusions)
    guard let plan = OptionShare.plan(for: types, of: part, self.options),
      graph.fits(Placement(saved: plan))
    else { return graph }
    options.plan = plan
    return LoadedGraph(built, site, options, without: exclusions)
  }

  /// The model where rows of padding lie before those of inputs that grow by a row a step, an input more saying how many
  /// (`PaddedSource.slot`). What does not depend on sizes is shared with this one.
  ///
  /// - Parameter growing: by input, the axis along which it grows.
  /// - Returns: nil where the model is not one graph of known sizes. Whether padding can be left out of it is known when it is built.
  func padded(_ growing: [String: Int]) -> LoadedModel? {
    guard let padded = Self.padded(function, growing) else { return nil }
    var model = self
    model.function = padded
    model.graphs = [nil]
    return model
  }

  private static func padded(_ function: Function, _ growing: [String: Int]) -> Function? {
    guard case .graph(var part)? = function.parts.first, function.parts.count == 1, part.valueDependent.isEmpty,
      !function.inputs.contains(where: { if case .state = $0.type { true } else { false } })
    else { return nil }
    part.source = PaddedSource(source: part.source, growing: growing)
    part.name = "padded"
    part.inputs.append(PaddedSource.slot)
    var padded = function
    padded.inputs.append(Feature(name: PaddedSource.slot, type: .tensor(.int64, [])))
    padded.parts = [.graph(part)]
    padded.runningOnHost = nil
    if let make = function.overriding {
      padded.overriding = { (names: Set<String>) throws -> Function in
        guard let other = Self.padded(try make(names), growing) else {
          let values = names.sorted().map { "'\($0)'" }.joined(separator: ", ")
          throw GraphError("the graph", "is not one of known sizes with other values for \(values)")
        }
        return other
      }
    }
    return padded
  }

  /// The model with some of its overridable constants as inputs. It shares nothing that is computed from constants with this
  /// one: what is folded or packed from one of them goes by the name of a node, which both have.
  ///
  /// - Parameter made: the function that has them.
  func overriding(_ names: Set<String>, _ made: Function) -> LoadedModel {
    var model = self
    model.function = made
    model.graphs = made.graphParts.map { _ in nil }
    model.site.key = ContentKey([site.key.description, "overriding"] + names.sorted())
    return model
  }

  /// The model with control flow walked that one of its graphs could not hold. It is cut elsewhere, and so shares nothing
  /// with this one.
  ///
  /// - Parameter made: the function that walks it.
  func runningOnHost(_ made: Function) -> LoadedModel {
    var model = self
    model.function = made
    model.graphs = made.graphParts.map { _ in nil }
    model.site.key = site.key.runningOnHost(made.hostControlFlow)
    return model
  }

  /// One of the graphs, compiled for the host.
  func hosted(_ index: Int, for types: SlotTypes) throws -> SessionPool {
    try site.hosted(try site.build(function.graphParts[index], for: types, options), options)
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
  /// - Parameters:
  ///   - compiled: the shown one.
  ///   - explanations: their plans, by graph part, where they are there already.
  /// - Returns: by graph part; nil for what is compiled when the function runs.
  package func compiledGraphs(
    _ compiled: CompiledModel, _ explanations: [PlanExplanation?]? = nil, observer: CompiledModel.Observer = .init()
  ) throws -> [CompiledModel?] {
    try graphs.enumerated().map { index, graph in
      guard let graph, graph.part.name != shown.part.name else { return graph == nil ? nil : compiled }
      let explanation = try explanations?[index] ?? graph.proven().explanation
      return try graph.compile(explanation, observer: .init(isCancelled: observer.isCancelled))
    }
  }
}

extension Feature {
  /// Whether its sizes vary from prediction to prediction.
  fileprivate var isFlexible: Bool {
    switch type {
    case .tensor(_, let dimensions): dimensions.contains(where: \.isFlexible)
    case .image(let image): image.isFlexible
    default: false
    }
  }
}

private struct EmptyGraph: GraphSource {
  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph { Graph() }
}

extension ContentKey {
  fileprivate func runningOnHost(_ names: Set<String>) -> ContentKey {
    ContentKey([description, "walking"] + names.sorted())
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
