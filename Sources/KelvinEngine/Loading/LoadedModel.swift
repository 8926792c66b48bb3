import KelvinBasics
import KelvinDevices
import KelvinFeatures
package import KelvinGraph
import KelvinHostOperations
import KelvinImport
package import KelvinMeasurements
package import KelvinPasses
package import KelvinPlanning
import KelvinReference
package import KelvinRuntime

/// A model that was read, with its function's graphs built for their input shapes and passed: ready to be planned.
///
/// A model passes these stages, each a value: `ModelProgram` is read, `LoadedModel` has graphs, `PlannedModel` has their
/// plans, a `CompiledModel` is one graph compiled, and `Predictor` runs them.
package struct LoadedModel: Sendable {
  package let program: ModelProgram
  package private(set) var function: Function
  /// The graphs by part index. A graph is nil if its sizes depend on data and no sample run determined them; it is
  /// built when the function runs.
  package private(set) var graphs: [LoadedGraph?]
  /// The graph that plans and measurements describe: the graph named in the options, or the one with the most work.
  package let shown: LoadedGraph
  /// Remarks for the user, e.g. about a stale profile.
  package let remarks: [String]
  /// The entries of `remarks` about data-dependent sizes.
  package let sizeRemarks: [String]
  var site: LoadContext

  package var functionName: String { site.function }
  package var options: LoadOptions { site.options }
  /// The difference between the planned machine and this one; nil if there is none.
  package var whatIf: WhatIf? { site.whatIf }
  /// The changes that the passes made to the shown graph, by the source's names.
  package var changes: [PassChange] { shown.changes }
  /// The graphs that plans and measurements of the function describe: all known graphs, or the one named in the
  /// options.
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
      program: readModel(at: path, allowsLinks: options.allowsLinks, isolation: options.isolation), options: options,
      inventory: inventory)
  }

  /// - Throws: the errors of `init(path:options:inventory:)`; `FileError` if a file of the model changed since it was
  ///   opened.
  package init(program: ModelProgram, options: LoadOptions, inventory: DeviceInventory = deviceInventory) throws {
    self = try program.source.opened.vouching { try LoadedModel(reading: program, options, inventory) }
  }

  private init(reading program: ModelProgram, _ options: LoadOptions, _ inventory: DeviceInventory) throws {
    self = try program.function(options.function).settled { function in
      try LoadedModel(program, function, options, inventory)
    }
  }

  /// - Throws: the errors of `init(path:options:inventory:)`; `DynamicShapeControlFlow`.
  private init(
    _ program: ModelProgram, _ function: Function, _ given: LoadOptions, _ inventory: DeviceInventory
  ) throws {
    let function = try function.running(given.customCode)
    var options = given
    // A caller's names are compared by their bytes.
    options.shapes = Dictionary(
      given.shapes.map { name, shape in
        (function.inputs.first { $0.isNamed(name) }?.name ?? ExactString(name).escaped, shape)
      }, uniquingKeysWith: { first, _ in first })
    let inputNames = Set(function.inputs.map(\.name))
    if let unknown = options.shapes.keys.sorted().first(where: { !inputNames.contains($0) }) {
      throw RuntimeError.invalidInput(
        name: unknown, reason: "the model has no such input; it has \(inputNames.sorted().joined(separator: ", "))")
    }
    let built = try function.evenGraphs(shapes: options.shapes, evaluator: ReferenceEvaluator())
    let site = try LoadContext(program, function, options, inventory)
    let passed = try built.map { built in
      try built.graph.map { try site.passed($0, of: built.part, for: SlotTypes(of: $0, computed: built.computed)) }
    }
    var (graphs, sizeRemarks) = try site.sampled(passed, of: function)
    let shown = try site.options.share(among: &graphs, of: built.map(\.part))
    self.program = program
    self.function = function
    self.graphs = graphs
    self.site = site
    self.sizeRemarks = sizeRemarks
    self.shown = try shown.flatMap { graphs[$0] } ?? site.withoutGraphs()
    let plan = site.options.plan
    if let plan, !plan.parts.isEmpty { try self.shown.context.check(plan) }
    site.fallback.usualSize = Self.usualSize(function, graphs)
    remarks = site.remarks + sizeRemarks + (plan.map(self.shown.context.remarks(on:)) ?? [])
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

  /// The devices and nodes that the model cannot use.
  package var fallback: DeviceFallback { site.fallback }
  /// The checks of the results.
  package var guardian: ResultGuard { site.guardian }

  /// The index of the shown graph's output that has one score for each class; nil if there is none.
  package var scoresOutput: Int? {
    function.classification.flatMap { shown.part.outputs.firstIndex(of: $0.scores) }
  }

  /// A remark that something concerns only the shown graph; nil if the function has no other.
  package var partRemark: String? {
    guard graphs.count > 1 else { return nil }
    let names = function.graphParts.map(\.name).joined(separator: ", ")
    return "the function has \(graphs.count) graphs (\(names)); this is about '\(shown.part.name)'"
  }

  /// Remarks about the cache: why nothing is kept between runs, and which cached files were not trusted.
  package var cacheRemarks: [String] { context.cache?.directory.remarks ?? [] }

  /// The combined key of all known graphs.
  private var graphKey: ContentKey { ContentKey(graphs.compactMap { $0?.context.graphKey.description }) }

  /// Stores results of trials of this model's plans for later plans of this user.
  ///
  /// - Returns: remarks for the user; empty if nothing is to be kept or all was stored.
  package func keep(_ trials: [TriedPlans]) throws -> [String] {
    guard let cache = context.cache, options.profile == nil else { return [] }
    return try ProfileStore(cache.directory, kelvinVersion: kelvinVersion).save(
      trials, devices: context.inventory.devices(named: trials.flatMap(\.devices)).map(\.info))
  }

  /// Joins plans into one document, in the order of their graphs.
  ///
  /// - Parameter plans: the plans of `shownGraphs`, with their explanations.
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

  /// Builds one of the graphs for other input types. It is planned again unless a saved plan fits these sizes.
  /// Specializations share packed weights as far as possible.
  ///
  /// - Parameter exclusions: the devices and nodes not to use; nil for the exclusions of the usual sizes.
  package func graph(
    _ index: Int, for types: SlotTypes, without exclusions: DeviceFallback.Exclusions? = nil
  ) throws -> LoadedGraph {
    let part = function.graphParts[index]
    var options = graphs[index]?.options ?? options
    options.shapes.merge(types.shapes) { _, new in new }
    options.plan = nil
    options.tuning = options.tuning.afterLoading
    var graph = try site.built(part, for: types, options, without: exclusions)
    if graphs[index] == nil {
      // Pins of this graph were checked against the shown graph only; drop those it does not have.
      let names = Set(FlatGraph(graph.context.graph).placedNames)
      graph.options.request.pins = options.request.pins.filter { names.contains($0.key) }
    }
    if let plan = self.options.savedPlan(for: types, of: part), graph.fits(Placement.alternating(saved: plan)) {
      graph.options.plan = plan
    }
    return graph
  }

  /// Returns the only graph, built for images of a size; nil for a function with several graphs or image inputs.
  ///
  /// - Parameter size: a size that the image input accepts.
  package func graph(forImages size: ImageFeature.Size) throws -> LoadedGraph? {
    guard graphs.count == 1, graphs[0] != nil, let (name, image) = function.imageInput else { return nil }
    let shape = image.tensorShape(size)
    guard shown.types.shapes[name] != shape else { return shown }
    var types = shown.types
    types.shapes[name] = shape
    return try graph(0, for: types)
  }

  /// Returns the model with another function, whose graphs are built when it runs. Everything that does not depend on
  /// the function is shared with this model.
  ///
  /// - Parameter facts: the facts that set the contents of the function's constants apart from this model's; results
  ///   that are cached for one model are then not used for the other.
  func with(_ function: Function, keyedBy facts: [String] = []) -> LoadedModel {
    var model = self
    model.function = function
    model.graphs = function.graphParts.map { _ in nil }
    if !facts.isEmpty { model.site.key = site.key.with(facts) }
    return model
  }

  /// Compiles one of the graphs for the host.
  func hosted(_ index: Int, for types: SlotTypes) throws -> CompiledModel {
    try site.hosted(try site.built(function.graphParts[index], for: types))
  }
}

extension Feature {
  /// Whether its sizes can differ between predictions.
  fileprivate var isFlexible: Bool {
    switch type {
    case .tensor(_, let dimensions): takesAnyShape || dimensions.contains(where: \.isFlexible)
    case .image(let image): image.isFlexible
    default: false
    }
  }
}

extension ModelProgram {
  /// Returns a function by name.
  ///
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
