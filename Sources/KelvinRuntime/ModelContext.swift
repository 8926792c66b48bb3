import KelvinBasics
package import KelvinDevices
package import KelvinGraph
import KelvinMeasurements
package import KelvinPlanning

/// A function of a model, with its graph ready for placement, on the devices of a machine.
package struct ModelContext: Sendable {
  /// The model's name as the user gave it.
  package let name: String
  /// The key of the model's contents.
  package let key: ContentKey
  package let function: String
  /// The graph after all passes.
  package let graph: Graph
  package let inventory: DeviceInventory
  /// The compiled cache; nil if nothing is kept between processes.
  package private(set) var cache: CompiledCache?
  package private(set) var costs: CostSheet
  /// Packed weights if there is no cache; shared by all copies of the context.
  package private(set) var stores: WeightRegistry<MemoryPackedWeights>
  /// The files that weights are read from.
  package let sources: SourceFiles
  /// The time limits of devices.
  package let watchdog: Watchdog
  /// Which kernels may be chosen by timing.
  package let tuning: KernelTuning
  /// The facts besides input types that the graph was built for: the elements on which its sizes depend.
  private let specialization: [String]
  private let capacities: DeviceCapacities
  /// The key of the graph, computed at first use because serializing a graph takes about as long as planning it.
  private let knownKey = ConditionLock<ContentKey?>(nil)

  package init(
    name: String, key: ContentKey, function: String, graph: Graph, inventory: DeviceInventory, cache: CompiledCache?,
    costs: CostSheet, stores: WeightRegistry<MemoryPackedWeights> = WeightRegistry(),
    sources: SourceFiles = SourceFiles(), watchdog: Watchdog = .standard, tuning: KernelTuning = KernelTuning(.off),
    specialization: [String] = [], capacities: DeviceCapacities = DeviceCapacities()
  ) {
    self.capacities = capacities
    self.tuning = tuning
    self.specialization = specialization
    self.watchdog = watchdog
    self.name = name
    self.key = key
    self.function = function
    self.graph = graph
    self.inventory = inventory
    self.cache = cache
    self.costs = costs
    self.stores = stores
    self.sources = sources
  }

  /// The key of the graph: its nodes, types and shapes.
  package var graphKey: ContentKey {
    knownKey.withLock { known in
      let key = known ?? ContentKey([graph.canonical])
      known = key
      return key
    }
  }

  package var planner: Planner {
    Planner(inventory: inventory, costs: costs, model: key, cache: cache, watchdog: watchdog, capacities: capacities)
  }

  /// Returns the same model with other costs.
  package func with(costs: CostSheet) -> ModelContext {
    var context = self
    context.costs = costs
    return context
  }

  /// Returns the same model without a cache and with empty stores of packed weights.
  package func withoutCache() -> ModelContext {
    var context = self
    context.cache = nil
    context.stores = WeightRegistry()
    return context
  }

  /// Returns the best plan with its reasons and alternatives. Among plans whose costs do not differ significantly,
  /// the plan that a trial adopted is kept. Unless the request is strict, the host runs what the units do not hold, or
  /// hold only by streaming weights, if that takes longer.
  package func explain(_ request: PlanRequest) throws -> PlanExplanation {
    WorkBudget.enter(.planning)
    do {
      let problem = try planner.problem(graph, request)
      var explanation = try settled(problem, request)
      guard explanation.solution.streamed != nil else { return explanation }
      let mayUseHost = try planner.devices(for: request).units.contains { $0 === inventory.host }
      if !request.isStrict, !mayUseHost, let relieved = try? relieved(request),
        relieved.solution.predicted < explanation.solution.predicted
      {
        return relieved
      }
      explanation.shortage = shortage(explanation.solution, of: explanation.solution.placement, problem)
      return explanation
    } catch let error as PlanningError {
      guard error.code == .infeasible, !request.isStrict, let relieved = try? relieved(request) else { throw error }
      return relieved
    }
  }

  /// Returns the plan file of an explanation.
  package func plan(_ explanation: PlanExplanation, _ request: PlanRequest) throws -> Plan {
    let (units, helpers) = try planner.devices(for: request)
    let machine = MachineDescription(SystemFiles())
    let subject = Plan.Subject(
      model: name, modelKey: key.description, graph: graphKey.description, machine: machine.summary,
      devices: (units + helpers).map(\.info).map {
        .init(id: $0.id, name: $0.name, driver: $0.driver, version: $0.version)
      },
      units: request.units.description, precision: request.precision.rawValue)
    let flat = FlatGraph(graph, iterations: planner.iterations(request))
    let graph = flat.graph
    let nodes = Dictionary(uniqueKeysWithValues: graph.nodes.map { ($0.name, $0) })
    let makers = Dictionary(graph.nodes.flatMap { node in node.outputs.map { ($0, node.name) } }) { first, _ in first }
    func inputs(_ values: [ValueID]) -> [String] {
      values.filter { graph[$0].weight == nil }.map { makers[$0] ?? graph[$0].name }.uniqued
    }
    let controls = Dictionary(uniqueKeysWithValues: flat.controls.map { ($0.name, $0) })
    var plan = Plan(explanation, of: subject, goal: request.goal) { name in
      if let control = controls[name] {
        let share = 1 / Double(max(control.origins.count, 1))
        return (
          op: control.kind.rawValue, origins: control.origins.map { .init(name: $0.name, share: share) },
          inputs: inputs(control.reads)
        )
      }
      guard let node = nodes[name] else { return (op: "", origins: [], inputs: []) }
      return (
        op: node.op.name, origins: node.originShares.map { .init(name: $0.origin.name, share: $0.share) },
        inputs: inputs(node.inputs)
      )
    }
    let places = Dictionary(uniqueKeysWithValues: zip(graph.nodes.map(\.name), flat.places))
    for index in plan.nodes.indices {
      let name = plan.nodes[index].name
      if let control = controls[name] {
        plan.nodes[index].region = control.region
        plan.nodes[index].iterations = control.times
        plan.nodes[index].describeControl(turns: control.turns)
      } else if let place = places[name] {
        plan.nodes[index].region = place.region
        plan.nodes[index].iterations = place.iterations
      }
      plan.nodes[index].computation = nodes[name]?.fingerprint(in: graph)
    }
    plan.nodes = flat.inOrder(plan.nodes, name: \.name)
    return plan
  }

  /// Returns the number of nodes that each device computes under a placement, without control flow.
  package func nodesByDevice(_ placement: [String: String]) -> [String: Int] {
    FlatGraph(graph).graph.nodes.reduce(into: [:]) { counts, node in
      if let device = placement[node.name] { counts[device, default: 0] += 1 }
    }
  }

  /// Returns the iteration counts that a plan assumes for the model's loops.
  package func expectations(_ request: PlanRequest) -> [IterationExpectation] {
    FlatGraph(graph, iterations: planner.iterations(request)).expectations
  }

  /// Explains a given plan by pinning every node to the plan's device.
  ///
  /// - Throws: `invalidPlan` if the plan was made for another model or graph, `invalidChoice` if the request has
  ///   pins, or the errors of `check`.
  package func explain(adopting plan: Plan, _ request: PlanRequest) throws -> PlanExplanation {
    try check(plan)
    if !plan.subject.graph.isEmpty, plan.subject.graph != graphKey.description {
      throw refuse("was made for other shapes or another version of Kelvin")
    }
    guard request.pins.isEmpty else {
      throw RuntimeError.invalidChoice("a plan places every node; remove the pins, or make a new plan with them")
    }
    let mixture = plan.mixture?.keeping { _ in true } ?? []
    for placement in [plan.placement] + mixture.map(\.placement) { try check(placement, of: plan, request) }
    var pinned = request
    pinned.pins = plan.placement
    var explanation = try explain(pinned)
    if !mixture.isEmpty {
      let plans = try mixture.map { part in
        var pinned = request
        pinned.pins = part.placement
        let problem = try planner.problem(graph, pinned)
        return (share: part.share, solution: try problem.solve(), problem: problem)
      }
      explanation.solution.alternate(
        between: plans, goal: request.goal, singlePlanSeconds: plan.mixture?.singlePlanSeconds)
    }
    // The pins are a means here; the reasons are those for which the plan was made.
    let reasons = Dictionary(plan.nodes.map { ($0.name, $0.reason) }) { first, _ in first }
    for index in explanation.nodes.indices where explanation.nodes[index].reason == "pinned" {
      let reason = reasons[explanation.nodes[index].node] ?? ""
      explanation.nodes[index].reason = reason.isEmpty ? "the given plan" : reason
    }
    return explanation
  }

  /// Checks one placement of a plan against the graph.
  ///
  /// - Throws: `invalidPlan`, `unknownDevice` or `deviceAbsent`.
  private func check(
    _ placement: [String: String], of plan: Plan, _ request: PlanRequest
  ) throws(RuntimeError) {
    let names = FlatGraph(graph).placedNames
    if let missing = names.first(where: { placement[$0] == nil }) {
      throw refuse("has no device for '\(missing)'")
    }
    let host = inventory.host.info.id
    if let control = FlatGraph(graph).controls.first(where: { placement[$0.name] != host }) {
      throw refuse("puts the \(control.kind.rawValue) '\(control.name)' on a device, but control flow runs on \(host)")
    }
    let known = Set(names)
    if let foreign = placement.keys.sorted().first(where: { !known.contains($0) }) {
      throw refuse("places '\(foreign)', which the model does not have")
    }
    if !plan.subject.precision.isEmpty {
      guard let precision = Precision(rawValue: plan.subject.precision) else {
        throw refuse("was made for the precision '\(plan.subject.precision)', which this version of Kelvin lacks")
      }
      if let node = try node(tellingApart: precision, request.precision, placement: placement) {
        throw refuse(
          "was made for precision \(precision.rawValue), not \(request.precision.rawValue), and "
            + "\(placement[node.name] ?? "") computes '\(node.name)' differently in each")
      }
    }
  }

  private func refuse(_ reason: String) -> RuntimeError {
    .invalidPlan("the plan \(reason); make a new one with 'kelvin plan --save'")
  }

  /// Checks that a plan of any of the function's graphs is for this model and for devices that are present.
  ///
  /// - Throws: `invalidPlan`, `unknownDevice` or `deviceAbsent`.
  package func check(_ plan: Plan) throws(RuntimeError) {
    if !plan.subject.modelKey.isEmpty, plan.subject.modelKey != key.description {
      throw refuse("was made for another model ('\(plan.subject.model)')")
    }
    let used = plan.usedDevices
    for device in plan.subject.devices where used.contains(device.id) {
      let present = try inventory.device(device.id).info
      guard present.name == device.name else {
        throw refuse("was made for \(device.id) '\(device.name)', which is '\(present.name)' here")
      }
    }
  }

  /// Returns the first node that its device computes in different precisions when `first` and `second` are requested;
  /// nil if there is none.
  ///
  /// - Throws: `unknownDevice` or `deviceAbsent`.
  package func node(
    tellingApart first: Precision, _ second: Precision, placement: [String: String]
  ) throws(RuntimeError) -> Node? {
    guard first != second else { return nil }
    let graph = FlatGraph(graph).graph
    for node in graph.nodes {
      guard let id = placement[node.name] else { continue }
      let device = try inventory.device(id)
      let answers = [first, second].map { device.effectivePrecision($0, of: node, in: graph) }
      if answers[0] != answers[1] { return node }
    }
    return nil
  }

  /// Whether any device computes any node in different precisions when `first` and `second` are requested, for any
  /// placement.
  package func tellsApart(_ first: Precision, _ second: Precision, devices: [any Device]) -> Bool {
    guard first != second else { return false }
    let graph = FlatGraph(graph).graph
    return devices.contains { device in
      graph.nodes.contains {
        device.effectivePrecision(first, of: $0, in: graph) != device.effectivePrecision(second, of: $0, in: graph)
      }
    }
  }

  /// Returns the changes of a plan's devices since it was made that may make it slower.
  package func remarks(on plan: Plan) -> [String] {
    let used = plan.usedDevices
    return plan.subject.devices.filter { used.contains($0.id) }.compactMap { device in
      guard let present = inventory.devices(named: [device.id]).first?.info,
        present.driver != device.driver || present.version != device.version
      else { return nil }
      return "the plan was made with driver \(device.driver) \(device.version) of \(device.id), which is now "
        + "\(present.driver) \(present.version)"
    }
  }

  /// Compiles the plans between which inferences alternate.
  ///
  /// - Parameter placements: at least one.
  /// - Throws: the errors of compiling each of them.
  package func compile(
    alternating placements: [Placement], precision: Precision, threads: Int, isDeterministic: Bool = false,
    observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledMixture {
    CompiledMixture(
      try placements.map { placement throws(RuntimeError) in
        let model = try compile(
          placement, precision: precision, threads: threads, isDeterministic: isDeterministic, observer: observer)
        return (model, placement.share)
      })
  }

  /// Compiles the best single plan of a solution.
  package func compile(
    _ solution: PlanSolution, precision: Precision, threads: Int, isDeterministic: Bool = false, overlaps: Bool = true,
    observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledModel {
    try compile(
      Placement(solution), precision: precision, threads: threads, isDeterministic: isDeterministic,
      overlaps: overlaps, observer: observer)
  }

  /// Compiles the graph for a placement, reading packed weights from the cache and storing new ones. While another
  /// specialization of the model is alive, the compiled model shares its packed and uploaded weights.
  ///
  /// - Parameter overlaps: whether segments may end early so that other devices start sooner, which depends on costs.
  ///   Deterministic models have no such segments.
  /// - Throws: `file`, before anything is stored, if a file of the model changed since it was opened.
  package func compile(
    _ placement: Placement, precision: Precision, threads: Int, isDeterministic: Bool = false, overlaps: Bool = true,
    observer: CompiledModel.Observer = .init()
  ) throws(RuntimeError) -> CompiledModel {
    var cached: [String: CachedWeights] = [:]
    // Later compilations use new stores, so devices upload weights again.
    func forget() {
      for weights in cached.values { cache?.forget(weights) }
      stores.forget()
      cached = [:]
    }
    let model = try sources.vouching(refusing: RuntimeError.file, discarding: forget) { () throws(RuntimeError) in
      try CompiledModel(
        graph, placement: placement.devices, transfers: placement.transfers, streamed: placement.streamed,
        inventory: inventory, precision: precision, threads: threads, isDeterministic: isDeterministic,
        specialization: specialization,
        storage: { device in
          let id = device.info.id
          guard let cache else {
            let name = ContentKey([key.description, function, id]).description
            return (stores.store(name) { MemoryPackedWeights() }, NoBlobCache())
          }
          let weights = cache.weights(key, function: function, device: device.info)
          // Results computed from a pack that changed must not be returned either.
          if let mapped = weights.mapped { sources.hold(pack: mapped) }
          cached[id] = weights
          return (weights, cache.blobs(device.info))
        }, tuning: tuning, watchdog: watchdog,
        expecting: { node, graph, device in
          costs.cost(node, in: graph, on: device, asking: precision, threads: threads).seconds
        }, overlap: overlaps && !isDeterministic ? overlapCosts(placement, precision, threads) : nil,
        observer: observer)
    }
    for weights in cached.values {
      weights.save()
      if let mapped = weights.mapped { sources.hold(pack: mapped) }
    }
    return model
  }

  private func overlapCosts(_ placement: Placement, _ precision: Precision, _ threads: Int) -> OverlapCosts {
    let devices = inventory.devices(named: Set(placement.devices.values).sorted())
    let byID = Dictionary(devices.map { ($0.info.id, $0) }) { first, _ in first }
    let late = Set(devices.filter { !$0.isReadWhileBusy }.map(\.info.id))
    return OverlapCosts(resources: costs.resources(of: devices.map(\.info)), late: late) { node, graph, device in
      byID[device].map { costs.cost(node, in: graph, on: $0, asking: precision, threads: threads).seconds }
    }
  }
}
