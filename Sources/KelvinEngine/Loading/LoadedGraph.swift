import KelvinFeatures
package import KelvinGraph
package import KelvinPasses
package import KelvinPlanning
package import KelvinRuntime

/// One graph of a function, built for the types of its inputs and passed: ready to be planned and compiled.
package struct LoadedGraph: Sendable {
  package let part: GraphPart
  /// The changes made by the passes, by the source's names.
  package let changes: [PassChange]
  package private(set) var context: ModelContext
  private let fallback: DeviceFallback
  /// The exclusions of the prediction that the graph is for; nil for the usual sizes.
  private let own: DeviceFallback.Exclusions?
  /// The options for this graph: the request and, if it was made for this graph, the plan.
  package internal(set) var options: LoadOptions
  /// The types that the graph is built for.
  let types: SlotTypes
  /// The graph's input tensors in the sample run, if its sizes depend on data.
  package internal(set) var sample: [Tensor]?

  init(
    _ part: GraphPart, _ passed: PassResult, _ types: SlotTypes, _ site: LoadContext, _ options: LoadOptions,
    without exclusions: DeviceFallback.Exclusions?
  ) {
    self.part = part
    changes = passed.changes
    self.types = types
    context = ModelContext(
      name: site.name, key: site.key,
      function: part.name == GraphPart.onlyName ? site.function : "\(site.function)/\(part.name)",
      graph: passed.graph, inventory: site.inventory, cache: site.cache, costs: site.costs, stores: site.stores,
      sources: site.sources, watchdog: options.watchdog, tuning: options.tuning,
      specialization: types.values.sorted { $0.key < $1.key }.map { "\($0.key)=\(ContentKey($0.value.bytes))" },
      capacities: site.capacities)
    fallback = site.fallback
    own = exclusions
    self.options = options
  }

  private var exclusions: DeviceFallback.Exclusions { own ?? fallback.exclusions() }

  /// The request of the options, without excluded devices and nodes. It does not bound memory.
  private var request: PlanRequest {
    let exclusions = exclusions
    var request = options.request
    (request.failedDevices, request.refusals) = (exclusions.devices, exclusions.nodes)
    return request
  }

  /// The plan that the options give, without the plans of its mixture that use an excluded device or node; nil if there
  /// is none, or if none of its plans can be used.
  private var adopted: Plan? {
    let exclusions = exclusions
    return options.plan?.keeping { placement in
      placement.values.allSatisfy { exclusions.devices[$0] == nil }
        && exclusions.nodes.allSatisfy { id, nodes in nodes.keys.allSatisfy { placement[$0] != id } }
    }
  }

  /// Explains the plan for a request: the options' plan, or the best one.
  ///
  /// - Parameter request: nil for the options' request without excluded devices.
  package func explain(_ request: PlanRequest? = nil) throws -> PlanExplanation {
    let request = request ?? self.request
    if let plan = adopted {
      // The choices come from the plan, so the plan is invalid.
      do { return try context.explain(adopting: plan, request) } catch RuntimeError.invalidChoice(let reason) {
        throw RuntimeError.invalidPlan(reason)
      }
    }
    return try context.explain(request)
  }

  /// Returns the plan to run: the given plan, or the best plan that uses one device or was confirmed by a trial. If a
  /// driver refused memory for it, the other devices run what does not fit.
  ///
  /// A graph with states has no mixture, because predictions would move the states between devices. A deterministic
  /// model has none either, because devices may round differently.
  ///
  /// - Returns: the plan, and a remark for the user if it is a mixture, or if another plan is predicted to be better.
  package func proven() throws -> (explanation: PlanExplanation, remark: String?) {
    let bounds = exclusions.memory
    let wanted = try wanted()
    guard !bounds.isEmpty else { return wanted }
    var request = request
    request.memory = bounds
    var reduced = try context.reduced(wanted.explanation.solution.placement, request)
    // The remark about the refusal is enough.
    reduced.shortage = nil
    if let single = wanted.explanation.bestSingleDevice, single.predicted <= reduced.solution.predicted,
      single.solution.placement.values.allSatisfy({ bounds[$0] == nil })
    {
      return (wanted.explanation.adopting(single.solution, reason: "the other devices lack memory"), nil)
    }
    return (reduced, nil)
  }

  /// Returns the plan to run where memory is as the drivers report it.
  private func wanted() throws -> (explanation: PlanExplanation, remark: String?) {
    let explanation = try explain()
    var (proven, remark) =
      adopted == nil
      ? explanation.proven(by: context.trial(request), goal: options.request.goal) : (explanation, nil)
    guard let mixture = proven.solution.mixture else { return (proven, remark) }
    let obstacle =
      options.isDeterministic
      ? "results are to repeat" : context.graph.states.isEmpty ? nil : "predictions share states"
    if let obstacle {
      proven.solution.dropMixture()
      return (proven, "one plan runs all predictions, because \(obstacle); otherwise \(mixture.text)")
    }
    remark = remark ?? mixture.text
    return (proven, remark)
  }

  /// Whether placements made for another size are valid for this graph.
  func fits(_ placements: [Placement]) -> Bool { placements.allSatisfy { context.fits($0, request) } }

  /// The shapes that a sample run found, by slot; nil if sizes do not depend on data.
  package var sampledSizes: [String: [Int]]? { sample.map { _ in types.sizes } }
  /// The elements on which sizes depend, from the sample run; nil if there are none.
  package var sampledValues: [String: [Double]]? { sample == nil || types.values.isEmpty ? nil : types.sizeValues }

  /// Returns the same graph with other costs.
  package func with(costs: CostSheet) -> LoadedGraph {
    var graph = self
    graph.context = context.with(costs: costs)
    return graph
  }

  /// Returns the plan file of an explanation.
  ///
  /// - Parameter function: the graph's function. If it has several graphs, or sizes depend on data, the plan names
  ///   its graph.
  package func plan(_ explanation: PlanExplanation, of function: Function) throws -> Plan {
    var plan = try context.plan(explanation, request)
    plan.holdsUpTo = sizesHeld(function)
    guard sample != nil || function.graphParts.count > 1 else { return plan }
    return plan.asPart(part.name, sampledSizes: sampledSizes, sampledValues: sampledValues)
  }

  /// Returns the largest shape of each slot for which the plan is used; nil if shapes are fixed, or each has its own
  /// plan.
  private func sizesHeld(_ function: Function) -> [String: [Int]]? {
    guard options.sharesPlans else { return nil }
    var held: [String: [Int]] = [:]
    for (slot, shape) in types.shapes {
      switch function.inputs.first(where: { $0.name == slot })?.type {
      case .tensor(_, let dimensions) where dimensions.contains(where: \.isFlexible):
        guard dimensions.count == shape.rank else { continue }
        held[slot] = zip(shape.dimensions, dimensions).map { size, dimension in
          min(size.bucket, dimension.largest)
        }
      case .image(let image) where image.isFlexible: held[slot] = shape.bucket.dimensions
      default: continue
      }
    }
    if sample != nil {
      for (slot, type) in types.computed { held[slot] = type.shape.bucket.dimensions }
    }
    return held.isEmpty ? nil : held
  }

  /// Returns remarks for the user: the nodes that run outside the requested units, and why.
  package func remarks(on explanation: PlanExplanation) throws(RuntimeError) -> [String] {
    try context.remarks(on: explanation, request)
  }

  package func precisionRemark(on explanation: PlanExplanation) throws(RuntimeError) -> String? {
    try context.precisionRemark(on: explanation, request)
  }

  /// Compiles the best single plan of an explanation.
  package func compile(
    _ explanation: PlanExplanation, observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledModel {
    try context.compile(
      explanation.solution, precision: options.request.precision, threads: options.request.threads,
      isDeterministic: options.isDeterministic, observer: observer)
  }

  /// Compiles the graph for the plans between which predictions alternate.
  package func compile(
    alternating placements: [Placement], observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledMixture {
    try context.compile(
      alternating: placements, precision: options.request.precision, threads: options.request.threads,
      isDeterministic: options.isDeterministic, observer: observer)
  }
}

extension Dimension {
  fileprivate var largest: Int {
    switch self {
    case .fixed(let size): size
    case .flexible(_, let range, _): range.upperBound
    }
  }
}
