import KelvinBasics
package import KelvinDevices
package import KelvinGraph
import KelvinMeasurements
package import KelvinPlanning

/// The parameters of planning.
package struct PlanRequest: Sendable {
  package var units: UnitsSelection
  package var goal: Goal
  /// Whether a node that none of the units supports is an error. Otherwise it falls back to the CPU.
  package var isStrict: Bool
  package var precision: Precision
  package var threads: Int
  /// Node or origin names to device ids. A pin may name a device outside the units, even under `isStrict`.
  package var pins: [String: String]
  /// Ids of devices that must not run nodes.
  package var exclusions: [String]
  /// Failed devices that are not used, with the reason, by id.
  package var failedDevices: [String: String] = [:]
  /// By device id, the nodes that it refused to run, and why.
  package var refusals: [String: [String: String]] = [:]
  /// By device id, the most bytes that its driver gives the model, where it refused more.
  package var memory: [String: Int] = [:]
  /// Whether the host may also run nodes that a unit supports, because the units lack memory for them.
  var hostRelieves = false
  /// The number of inferences after the first, for `one-shot`.
  package var runs: Int
  /// The power budget, for `sustained`.
  package var power: PlanningProblem.Power?
  /// The expected iteration counts of loops.
  package var iterations: IterationEstimate

  package init(
    units: UnitsSelection = .all, goal: Goal = .latency, isStrict: Bool = false, precision: Precision = .automatic,
    threads: Int = 1, pins: [String: String] = [:], exclusions: [String] = [], runs: Int = 0,
    power: PlanningProblem.Power? = nil, iterations: IterationEstimate = IterationEstimate()
  ) {
    self.iterations = iterations
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

  /// Gives each pin the name that its node has in a graph, which is escaped where another name is canonically equivalent.
  mutating func namePins(as names: Set<String>) {
    pins = pins.reduce(into: [:]) { $0[names.name(exact: $1.key)] = $1.value }
  }
}

/// Converts a graph, devices and costs into a planning problem, and its solution into a plan.
package struct Planner: Sendable {
  package let inventory: DeviceInventory
  package let costs: CostSheet
  /// The profile key of the model's start costs; nil if nothing is known.
  package let model: ContentKey?
  /// The cache of self-test results; nil if none are kept.
  private let cache: CompiledCache?
  private let watchdog: Watchdog
  private let capacities: DeviceCapacities

  package init(
    inventory: DeviceInventory, costs: CostSheet, model: ContentKey? = nil, cache: CompiledCache? = nil,
    watchdog: Watchdog = .standard, capacities: DeviceCapacities = DeviceCapacities()
  ) {
    self.capacities = capacities
    self.inventory = inventory
    self.costs = costs
    self.model = model
    self.cache = cache
    self.watchdog = watchdog
  }

  /// Runs self-tests of the kinds of kernels that a graph needs, before devices are asked what they support. Each
  /// kind is tested at its first use; later uses read the result from the cache.
  private func examine(_ devices: [any Device], _ graph: Graph, _ precision: Precision) {
    for device in devices {
      let blobs = cache?.blobs(device.info) ?? NoBlobCache()
      device.recall(blobs)
      guard let trust = device.trust, let device = device as? any KernelDevice else { continue }
      trust.examine(
        graph, precision, on: device, against: inventory.reference ?? inventory.host, blobs: blobs, watchdog: watchdog)
    }
  }

  /// Returns the devices that a request uses: its units, and the fallback devices.
  package func devices(for request: PlanRequest) throws(RuntimeError) -> (
    units: [any Device], fallbackDevices: [any Device]
  ) {
    let excluded = Set(request.exclusions).union(request.failedDevices.keys)
    for id in request.exclusions { _ = try inventory.device(id) }
    let units = try request.units.devices(in: inventory).filter { !excluded.contains($0.info.id) }
    var fallbackDevices: [any Device] = []
    var candidates = [inventory.host] + (inventory.reference.map { [$0] } ?? [])
    for id in Set(request.pins.values).sorted() { candidates.append(try inventory.device(id)) }
    for device in candidates where !(units + fallbackDevices).contains(where: { $0 === device }) {
      fallbackDevices.append(device)
    }
    return (units, fallbackDevices)
  }

  /// Returns the expected iteration counts: those that the profile measured of this model, unless the request sets
  /// them.
  package func iterations(_ request: PlanRequest) -> IterationEstimate {
    var estimate = request.iterations
    guard let measured = model.flatMap({ costs.profile?.models[$0.description] }) else { return estimate }
    estimate.measured.merge(measured.trips ?? [:]) { given, _ in given }
    estimate.measuredShares.merge(measured.thenShares ?? [:]) { given, _ in given }
    return estimate
  }

  /// Returns the planning problem of a graph on the devices of a request.
  ///
  /// - Throws: `RuntimeError` for devices or pins that do not exist and for nodes without a device; `PlanningError`
  ///   if the costs do not form a valid problem.
  package func problem(_ graph: Graph, _ request: PlanRequest) throws -> PlanningProblem {
    let (units, others) = try devices(for: request)
    var fallbackDevices = FallbackDevices(others, host: inventory.host, request)
    let known = try request.units.devices(in: inventory)
    let flat = FlatGraph(graph, iterations: iterations(request))
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
            on: device.info.id, times: flat.places[index].iterations)
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
    let devices = (units + others).filter { device in
      device === host || rivals[device.info.id] != nil || nodes.contains { $0.seconds[device.info.id] != nil }
    }
    let used = devices.map(\.info)
    let capacities = capacities.bytes(of: devices.filter { $0 !== host }, within: request.memory)
    let crowded = devices.filter { nodes.mayExceed(capacities[$0.info.id]) }
    for device in crowded {
      for (index, node) in graph.nodes.enumerated() where nodes[index].seconds[device.info.id] != nil {
        nodes[index].addWeights(of: node, in: graph, packedBy: device, request.precision)
      }
    }
    nodes.assignWeights(to: used.map(\.id))
    for device in crowded where device.streamsWeights {
      let link = costs.transfer(from: host.info, to: device.info, threads: request.threads)
      nodes.addStreams(to: device.info.id, over: link, iterations: flat.places.map(\.iterations))
    }
    nodes += flat.sourceRecords(on: used.map(\.id))
    nodes += flat.controlRecords().map { record in
      var record = record
      costs.price(&record, devices: used, host: host.info, threads: request.threads)
      return record
    }
    return try costs.problem(
      nodes, devices: used, host: host.info.id, inputs: (graph.inputs + flat.hostWrites).map(flat.record),
      outputs: (graph.outputs + flat.hostReads).map { graph[$0].name }.uniqued, pins: pins,
      capacities: capacities, model: model?.description, request)
  }

  /// Returns, for each device that is not used because another interface offers the same card, the device that is
  /// used instead. That is the device that supports more of the graph, or else needs less time for it. Explicitly
  /// named devices are all used.
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

  /// Returns the pins by node name. A pin may also name any of a node's origins; a pin of the node's own name takes
  /// precedence.
  private func pins(_ flat: FlatGraph, _ request: PlanRequest) throws -> [String: String] {
    guard !request.pins.isEmpty else { return [:] }
    var request = request
    // A branch or loop runs on the host; its name stands for the values it results in.
    let names = Set(flat.placedNames).subtracting(flat.controls.map(\.name))
    var descendants: [String: [String]] = [:]
    for node in flat.graph.nodes {
      for origin in Set(node.origins.map(\.name)) { descendants[origin, default: []].append(node.name) }
    }
    request.namePins(as: names.union(descendants.keys).union(flat.controls.map(\.name)))
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
  /// The elements without duplicates, in order of first appearance.
  package var uniqued: [Element] {
    var seen = Set<Element>()
    return filter { seen.insert($0).inserted }
  }
}
