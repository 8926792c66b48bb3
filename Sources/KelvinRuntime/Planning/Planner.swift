package import KelvinDevices
package import KelvinGraph
import KelvinMeasurements
package import KelvinPlanning

/// What a plan is asked for.
package struct PlanRequest: Sendable {
  package var units: UnitsSelection
  package var goal: Goal
  /// Whether a node that none of the units runs is an error instead of a fallback to the CPU.
  package var isStrict: Bool
  package var precision: Precision
  package var threads: Int
  /// Node or origin name to device id. A pin holds even for a device outside the units, and under `isStrict`.
  package var pins: [String: String]
  /// Device ids that run nothing.
  package var exclusions: [String]
  /// Devices that are done without though they are not excluded, and why, by id.
  package var failedDevices: [String: String] = [:]
  /// By device id, the nodes that it turned out not to run, and why.
  package var refusals: [String: [String: String]] = [:]
  /// Inferences after the first, for `one-shot`.
  package var runs: Int
  /// The power budget, for `sustained`.
  package var power: PlanningProblem.Power?
  /// How often loops are expected to go round.
  package var trips: IterationEstimate

  package init(
    units: UnitsSelection = .all, goal: Goal = .latency, isStrict: Bool = false, precision: Precision = .automatic,
    threads: Int = 1, pins: [String: String] = [:], exclusions: [String] = [], runs: Int = 0,
    power: PlanningProblem.Power? = nil, trips: IterationEstimate = IterationEstimate()
  ) {
    self.trips = trips
    self.units = units
    self.goal = goal
    self.isStrict = isStrict
    self.precision = precision
    self.threads = threads
    self.pins = pins
    self.exclusions = exclusions
    self.runs = runs
    self.power = power
  }
}

/// Turns a graph, devices and costs into a planning problem, and its answer into a plan.
package struct Planner: Sendable {
  package let inventory: DeviceInventory
  package let costs: CostSheet
  /// Under which a profile has what the model's start costs; nil where nothing is known of it.
  package let model: ContentKey?
  /// Where what self-tests found is kept; nil where nothing is.
  private let cache: CompiledCache?
  private let watchdog: Watchdog

  package init(
    inventory: DeviceInventory, costs: CostSheet, model: ContentKey? = nil, cache: CompiledCache? = nil,
    watchdog: Watchdog = .standard
  ) {
    self.inventory = inventory
    self.costs = costs
    self.model = model
    self.cache = cache
    self.watchdog = watchdog
  }

  /// Has devices show, before they are asked what they run, that their drivers compute the kinds of kernels that a graph
  /// needs: at the first use of each kind, by what lies in the cache from then on.
  private func examine(_ devices: [any Device], _ graph: Graph, _ precision: Precision) {
    for device in devices {
      guard let trust = device.trust, let device = device as? any KernelDevice else { continue }
      trust.examine(
        graph, precision, on: device, against: inventory.reference ?? inventory.host,
        blobs: cache?.blobs(device.info) ?? NoBlobCache(), watchdog: watchdog)
    }
  }

  /// The devices a request brings into play: its units first, then the ones that only help out.
  package func devices(for request: PlanRequest) throws(RuntimeError) -> (units: [any Device], fallbackDevices: [any Device]) {
    let excluded = Set(request.exclusions).union(request.failedDevices.keys)
    for id in request.exclusions { _ = try inventory.device(id) }
    let units = try request.units.devices(in: inventory).filter { !excluded.contains($0.info.id) }
    var fallbackDevices: [any Device] = []
    var candidates = [inventory.host] + (inventory.reference.map { [$0] } ?? [])
    for id in Set(request.pins.values).sorted() { candidates.append(try inventory.device(id)) }
    for device in candidates where !(units + fallbackDevices).contains(where: { $0 === device }) { fallbackDevices.append(device) }
    return (units, fallbackDevices)
  }

  /// How often loops are expected to go round: what the profile measured of this model, and the request's guess where
  /// it did not.
  package func trips(_ request: PlanRequest) -> IterationEstimate {
    var estimate = request.trips
    guard let measured = model.flatMap({ costs.profile?.models[$0.description] }) else { return estimate }
    estimate.measured.merge(measured.trips ?? [:]) { given, _ in given }
    estimate.measuredShares.merge(measured.thenShares ?? [:]) { given, _ in given }
    return estimate
  }

  /// A graph's costs on the devices that a request brings into play, as planning sees them.
  ///
  /// - Throws: `RuntimeError` for devices or pins that do not exist and for nodes without a device; `PlanningError` where
  ///   the costs make no problem.
  package func problem(_ graph: Graph, _ request: PlanRequest) throws -> PlanningProblem {
    let (units, others) = try devices(for: request)
    var fallbackDevices = FallbackDevices(others, host: inventory.host, request)
    let known = try request.units.devices(in: inventory)
    let flat = FlatGraph(graph, trips: trips(request))
    let graph = flat.graph
    let pins = try pins(flat, request)
    examine(units + others, graph, request.precision)
    let rivals = rivals(among: units, graph, request)
    var nodes: [PlanningProblem.Node] = []
    var unplaceable: [RuntimeError.UnplaceableNode] = []
    for (index, node) in graph.nodes.enumerated() {
      var record = flat.record(index)
      func consider(_ device: any Device, _ record: inout PlanningProblem.Node) {
        if let reason = request.refusals[device.info.id]?[node.name] {
          record.unsupported[device.info.id] = reason
          return
        }
        switch device.support(for: node, in: graph, precision: request.precision) {
        case .supported:
          record.set(
            costs.cost(node, in: graph, on: device, asking: request.precision, threads: request.threads),
            on: device.info.id, times: flat.places[index].trips)
        case .unsupported(let reason): record.unsupported[device.info.id] = reason
        }
      }
      for device in units {
        if let better = rivals[device.info.id], pins[node.name] != device.info.id {
          record.unsupported[device.info.id] = "the same card as \(better), which runs this model sooner"
        } else {
          consider(device, &record)
        }
      }
      let pinned = pins[node.name]
      fallbackDevices.serve(&record, pinned: pinned, consider: consider)
      if let pinned, record.seconds[pinned] == nil {
        throw RuntimeError.invalidChoice(
          "'\(node.name)' is pinned to \(pinned), which cannot run it: "
            + (record.unsupported[pinned] ?? "it is excluded"))
      }
      if record.seconds.isEmpty {
        unplaceable.append(
          .init(name: node.name, op: node.op.name, reasons: fallbackDevices.reasons(record, units: known)))
      }
      nodes.append(record)
    }
    guard unplaceable.isEmpty else { throw RuntimeError.unplaceable(unplaceable, remedy: fallbackDevices.remedy) }

    let host = inventory.host
    let used = (units + others).filter { device in
      device === host || rivals[device.info.id] != nil || nodes.contains { $0.seconds[device.info.id] != nil }
    }.map(\.info)
    nodes += flat.sourceRecords(on: used.map(\.id))
    nodes += flat.controlRecords().map { record in
      var record = record
      costs.price(&record, devices: used, host: host.info, threads: request.threads)
      return record
    }
    return try costs.problem(
      nodes, devices: used, host: host.info.id, inputs: (graph.inputs + flat.hostWrites).map(flat.record),
      outputs: (graph.outputs + flat.hostReads).map { graph[$0].name }.uniqued, pins: pins, model: model?.description,
      weights: Double(WeightReport(graph).denseBytes), request)
  }

  /// Of devices that are one card behind two interfaces, those that are not used, each with the one that is: the one
  /// that runs more of the graph, and that in less time, as far as that was measured. Devices named one by one are all
  /// used.
  private func rivals(among units: [any Device], _ graph: Graph, _ request: PlanRequest) -> [String: String] {
    if case .devices = request.units { return [:] }
    func rank(_ device: any Device) -> (missing: Int, seconds: Double) {
      graph.nodes.reduce(into: (0, 0)) { rank, node in
        guard device.support(for: node, in: graph, precision: request.precision).isSupported else {
          rank.missing += 1
          return
        }
        rank.seconds +=
          costs.cost(node, in: graph, on: device, asking: request.precision, threads: request.threads).seconds
      }
    }
    var rivals: [String: String] = [:]
    for (resource, card) in Dictionary(grouping: units, by: \.info.resource) where resource != "cpu" && card.count > 1 {
      let best = card.map { ($0, rank($0)) }.min { $0.1 < $1.1 }
      for device in card where device !== best?.0 { rivals[device.info.id] = best?.0.info.id }
    }
    return rivals
  }

  /// Pins by node name. A pin may also name any of a node's origins; one of the node's own name goes before it.
  private func pins(_ flat: FlatGraph, _ request: PlanRequest) throws -> [String: String] {
    guard !request.pins.isEmpty else { return [:] }
    // A branch or loop runs on the host; its name means the values that it hands on.
    let names = Set(flat.placedNames).subtracting(flat.controls.map(\.name))
    var descendants: [String: [String]] = [:]
    for node in flat.graph.nodes {
      for origin in Set(node.origins.map(\.name)) { descendants[origin, default: []].append(node.name) }
    }
    let controls = Set(flat.controls.filter { request.pins[$0.name] == inventory.host.info.id }.map(\.name))
    var pins: [String: String] = [:]
    for (name, device) in request.pins.sorted(by: { $0.key < $1.key }) {
      _ = try inventory.device(device)
      let nodes = descendants[name] ?? []
      guard !nodes.isEmpty || names.contains(name) else {
        if controls.contains(name) { continue }
        throw RuntimeError.invalidChoice("no node is called '\(name)'; 'kelvin plan' lists the names")
      }
      if names.contains(name) { pins[name] = device }
      for node in nodes where request.pins[node] == nil {
        if let other = pins[node], other != device {
          throw RuntimeError.invalidChoice("'\(node)' is pinned to both \(other) and \(device)")
        }
        pins[node] = device
      }
    }
    return pins
  }
}

extension Array where Element: Hashable {
  var uniqued: [Element] {
    var seen = Set<Element>()
    return filter { seen.insert($0).inserted }
  }
}
