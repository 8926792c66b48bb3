import KelvinFeatures
package import KelvinGraph
package import KelvinPasses
package import KelvinPlanning
package import KelvinRuntime

/// One graph of a function, built for the types of its inputs and passed: ready to be planned and compiled.
package struct LoadedGraph: Sendable {
  package let part: GraphPart
  /// What the passes did, by the source's names.
  package let changes: [PassChange]
  package private(set) var context: ModelContext
  private let fallback: DeviceFallback
  /// What the prediction that it is for does without; nil for one of the usual sizes.
  private let own: DeviceFallback.Exclusions?
  /// The request and, where it was made for this graph, the plan.
  package let options: LoadOptions
  /// What it is built for.
  let types: SlotTypes
  /// Where its sizes depend on data: what the sample run that found them leaves at its inputs.
  package let sample: [Tensor]?

  init(_ graph: PassedGraph, _ site: LoadContext, _ options: LoadOptions, without exclusions: DeviceFallback.Exclusions? = nil) {
    part = graph.part
    changes = graph.passed.changes
    types = graph.types
    sample = graph.sample
    context = ModelContext(
      name: site.name, key: site.key,
      function: part.name == GraphPart.onlyName ? site.function : "\(site.function)/\(part.name)",
      graph: graph.passed.graph, inventory: site.inventory, cache: site.cache, costs: site.costs, stores: site.stores,
      sources: site.sources, watchdog: options.watchdog, tuning: options.tuning,
      specialization: graph.types.values.sorted { $0.key < $1.key }.map { "\($0.key)=\(ContentKey($0.value.bytes))" })
    fallback = site.fallback
    own = exclusions
    self.options = options
  }

  private var exclusions: DeviceFallback.Exclusions { own ?? fallback.exclusions() }

  /// What the options ask for, without what is absent.
  private var request: PlanRequest {
    let exclusions = exclusions
    var request = options.request
    (request.failedDevices, request.refusals) = (exclusions.devices, exclusions.nodes)
    return request
  }

  /// The plan that the options give; nil where they give none, or something of it is absent.
  private var adopted: Plan? {
    let exclusions = exclusions
    return options.plan.flatMap { plan in
      let isWhole =
        plan.usedDevices.isDisjoint(with: exclusions.devices.keys)
        && exclusions.nodes.allSatisfy { id, nodes in nodes.keys.allSatisfy { plan.placement[$0] != id } }
      return isWhole ? plan : nil
    }
  }

  /// The plan for a request: the one that the options give, or the best.
  ///
  /// - Parameter request: nil for the options' own, without the devices that the model does without.
  package func explain(_ request: PlanRequest? = nil) throws -> PlanExplanation {
    let request = request ?? self.request
    if let plan = adopted {
      // The choices are the plan's: it is the plan that does not fit.
      do { return try context.explain(adopting: plan, request) } catch RuntimeError.invalidChoice(let reason) {
        throw RuntimeError.invalidPlan(reason)
      }
    }
    return try context.explain(request)
  }

  /// The plan to run: the given one, or the best that one device or a trial vouches for.
  ///
  /// - Returns: with what the user should know where the best plan by prediction is another.
  package func proven() throws -> (explanation: PlanExplanation, remark: String?) {
    let explanation = try explain()
    return adopted == nil
      ? explanation.proven(by: context.trial(request), goal: options.request.goal) : (explanation, nil)
  }

  /// Whether a placement of another size serves this one.
  func fits(_ placement: Placement) -> Bool { context.fits(placement, request) }

  /// The shapes that a sample run found, by slot; nil where sizes are known beforehand.
  package var sampledSizes: [String: [Int]]? { sample.map { _ in types.sizes } }
  /// The elements on which sizes depend, as the sample run found them; nil where there are none.
  package var sampledValues: [String: [Double]]? { sample == nil || types.values.isEmpty ? nil : types.sizeValues }

  /// The same graph with other costs.
  package func with(costs: CostSheet) -> LoadedGraph {
    var graph = self
    graph.context = context.with(costs: costs)
    return graph
  }

  /// The plan file of an explanation.
  ///
  /// - Parameter function: that the graph is of: where it has others, or the sizes depend on data, the plan says which
  ///   graph it is about.
  package func plan(_ explanation: PlanExplanation, of function: Function) throws -> Plan {
    var plan = try context.plan(explanation, request)
    plan.holdsUpTo = sizesHeld(function)
    guard sample != nil || function.graphParts.count > 1 else { return plan }
    return plan.asPart(part.name, sampledSizes: sampledSizes, sampledValues: sampledValues)
  }

  /// The largest shape of each slot for which its plan is taken; nil where shapes cannot vary, or each has its own plan.
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

  /// What the user should know of a plan: which nodes run outside the units asked for, and why.
  package func remarks(on explanation: PlanExplanation) throws(RuntimeError) -> [String] {
    try context.remarks(on: explanation, request)
  }

  package func precisionRemark(on explanation: PlanExplanation) throws(RuntimeError) -> String? {
    try context.precisionRemark(on: explanation, request)
  }

  /// Compiles a plan.
  package func compile(
    _ explanation: PlanExplanation, observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledModel {
    try compile(Placement(explanation.solution), observer: observer)
  }

  /// Compiles the graph as it is placed.
  package func compile(
    _ placement: Placement, observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledModel {
    try context.compile(
      placement, precision: options.request.precision, threads: options.request.threads,
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
