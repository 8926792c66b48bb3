import KelvinDevices
package import KelvinGraph
package import KelvinPasses
package import KelvinPlanning
package import KelvinRuntime

/// One graph of a function, built for the types of its inputs and passed: ready to be planned and compiled.
package struct LoadedGraph: Sendable {
  package let part: GraphPart
  /// What the passes did, by the source's names.
  package let changes: [PassChange]
  package let context: ModelContext
  /// The request and, where it was made for this graph, the plan.
  package let options: LoadOptions

  init(
    _ part: GraphPart, _ passed: PassResult, _ site: LoadSite, function: String,
    _ options: LoadOptions
  ) {
    self.part = part
    changes = passed.changes
    context = ModelContext(
      name: site.name, key: site.key,
      function: part.name == GraphPart.onlyName ? function : "\(function)/\(part.name)", graph: passed.graph,
      inventory: site.inventory, cache: site.cache, costs: site.costs, stores: site.stores)
    self.options = options
  }

  /// The plan the options ask for: the given one, or the best.
  package func explain(_ request: PlanRequest? = nil) throws -> PlanExplanation {
    let request = request ?? options.request
    if let plan = options.plan {
      // The choices are the plan's: it is the plan that does not fit.
      do { return try context.explain(adopting: plan, request) } catch RuntimeError.invalidChoice(let reason) {
        throw RuntimeError.invalidPlan(reason)
      }
    }
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

/// What all graphs of a loaded model share: the machine, what is kept, what things cost.
struct LoadSite: Sendable {
  let name: String
  let key: ContentKey
  let inventory: DeviceInventory
  let cache: CompiledCache?
  let costs: CostSheet
  let stores: WeightRegistry<MemoryPackedWeights>
}
