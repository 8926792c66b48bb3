import KelvinDevices
package import KelvinMeasurements
package import KelvinPlanning

/// Plans a graph that a profile contains, with the profile's own costs; needs neither the model nor its devices.
package struct ProfilePlanner {
  package let model: ProfiledModel
  package let inventory: DeviceInventory
  private let key: String
  private let profile: MeasuredProfile
  package let costs: CostSheet
  /// Each node's record in the profile.
  private let nodes: [String: ProfiledModel.Node]

  /// - Parameters:
  ///   - costs: costs whose profile contains the graph.
  ///   - name: the model's name or key, or the last component of the name; nil if the profile has one model.
  /// - Throws: `invalidChoice` for a profile without that model, or without a host.
  package init(_ costs: CostSheet, model name: String?) throws(RuntimeError) {
    guard let profile = costs.profile else { throw .invalidChoice("there is no profile to plan from") }
    let names = profile.models.values.map(\.name).sorted()
    let candidates = profile.models.filter { key, model in
      name.map { $0 == key || $0 == model.name || $0 == model.name.split(separator: "/").last.map(String.init) } ?? true
    }
    guard candidates.count == 1, let (key, model) = candidates.first else {
      let has = names.isEmpty ? "holds no model's graph" : "holds the graphs of \(names.joined(separator: ", "))"
      throw .invalidChoice(
        "the profile \(has); " + (candidates.isEmpty ? "give the model's file" : "name one of them as the model"))
    }
    guard model.hasControl != true || model.nodes.contains(where: { $0.role != nil }) else {
      throw .invalidChoice(
        "the graph of \(model.name) in the profile has branches, loops or states, which an earlier version of Kelvin"
          + " recorded only in part; give the model's file, or measure it again with 'kelvin profile'")
    }
    self.model = model
    self.key = key
    self.profile = profile
    self.costs = costs
    nodes = Dictionary(model.nodes.map { ($0.name, $0) }) { first, _ in first }
    inventory = try DeviceInventory(whatIf: costs, threads: model.threads)
  }

  /// Returns the operator of a node; empty if the profile does not contain it.
  package func operatorName(of name: String) -> String {
    nodes[name].flatMap { $0.role?.rawValue ?? profile.work[$0.key]?.op } ?? ""
  }

  /// The iteration counts that the plan assumes for the model's loops.
  package var expectations: [IterationExpectation] {
    (model.trips ?? [:]).sorted { $0.key < $1.key }.map {
      IterationExpectation(loop: $0.key, iterations: $0.value, basis: .measured)
    }
  }

  /// Returns the best plan with its reasons. Among plans whose costs do not differ significantly, the plan with the
  /// fewest devices is chosen.
  ///
  /// - Throws: the errors of `problem`.
  package func explain(_ request: PlanRequest) throws -> PlanExplanation {
    let problem = try problem(request)
    return try problem.explain().settled(problem, noise: costs.predictionNoise(model: key), kept: nil)
  }

  /// - Parameter request: its precision and threads are replaced by the graph's measured ones.
  /// - Throws: `RuntimeError` for devices that do not exist and nodes without a device; `PlanningError` for an
  ///   invalid graph.
  package func problem(_ request: PlanRequest) throws -> PlanningProblem {
    var request = request
    request.threads = model.threads
    let planner = Planner(inventory: inventory, costs: costs)
    let (units, others) = try planner.devices(for: request)
    var helpers = FallbackDevices(others, host: inventory.host, request)
    let asked = try request.units.devices(in: inventory)
    let known = Set(nodes.keys)
    request.namePins(as: known)
    if let stranger = request.pins.keys.sorted().first(where: { !known.contains($0) }) {
      throw RuntimeError.invalidChoice("no node is called '\(stranger)'; 'kelvin plan' lists the names")
    }
    var records: [PlanningProblem.Node] = []
    var unplaceable: [RuntimeError.UnplaceableNode] = []
    for node in model.nodes {
      var record = PlanningProblem.Node(
        id: node.name, inputs: node.inputs, outputs: node.outputs.map(Self.value),
        weights: (node.weights ?? []).map { .init(weight: $0.weight, bytes: $0.bytes, devices: $0.devices) },
        seconds: [:])
      guard node.role == nil else {
        records.append(record)
        continue
      }
      for device in units { consider(device, node, &record) }
      helpers.serve(&record, pinned: request.pins[node.name]) { consider($0, node, &$1) }
      if record.seconds.isEmpty {
        unplaceable.append(
          .init(
            name: node.name, op: operatorName(of: node.name), reasons: helpers.reasons(record, units: asked)))
      }
      records.append(record)
    }
    guard unplaceable.isEmpty else { throw RuntimeError.unplaceable(unplaceable, remedy: helpers.remedy) }
    let host = inventory.host.info
    let used = (units + others).map(\.info).filter { info in
      info.id == host.id || records.contains { $0.seconds[info.id] != nil }
    }
    records.assignWeights(to: used.map(\.id))
    let capacities = Dictionary(
      used.filter { $0.memory > 0 && $0.id != host.id }.map { ($0.id, DeviceCapacities.usable($0.memory)) }
    ) { $1 }
    for index in records.indices {
      switch model.nodes[index].role {
      case nil: break
      case .state: records[index].takesNoTime(on: used.map(\.id))
      case .branch, .loop: costs.price(&records[index], devices: used, host: host, threads: model.threads)
      }
    }
    return try costs.problem(
      records, devices: used, host: host.id, inputs: (model.inputs + (model.hostWrites ?? [])).map(Self.value),
      outputs: (model.outputs + (model.hostReads ?? [])).uniqued, pins: request.pins, capacities: capacities,
      model: key, request)
  }

  private static func value(_ value: ProfiledModel.Value) -> PlanningProblem.Value {
    .init(value: value.value, bytes: value.bytes, copies: value.copies)
  }

  private func consider(_ device: any Device, _ node: ProfiledModel.Node, _ record: inout PlanningProblem.Node) {
    let id = device.info.id
    if let reason = node.unsupported?[id] {
      record.unsupported[id] = reason
      return
    }
    let key = node.key(on: id)
    guard let work = profile.work[key] ?? profile.work[node.key] else {
      if profile.nodes[key]?[id] != nil {
        record.set(cost(node, NodeWork(op: "", operations: 0, bytes: 0), device.info), on: id, times: node.runs ?? 1)
      } else {
        record.unsupported[id] = "the profile has neither the node's cost there nor its operator"
      }
      return
    }
    if let virtual = device as? VirtualDevice,
      case .unsupported(let reason) = virtual.support(key: key, family: work.op)
    {
      record.unsupported[id] = reason
    } else {
      record.set(cost(node, work, device.info), on: id, times: node.runs ?? 1)
    }
  }

  private func cost(_ node: ProfiledModel.Node, _ work: NodeWork, _ device: DeviceInfo) -> CostSheet.Cost {
    costs.cost(key: node.key(on: device.id), on: device, threads: model.threads, work: work)
  }

  /// Returns the plan file, which is valid only for the profile's model and devices.
  package func plan(_ explanation: PlanExplanation, _ request: PlanRequest) -> Plan {
    let subject = Plan.Subject(
      model: model.name, modelKey: key, graph: model.graph ?? "", machine: profile.machine.summary,
      devices: profile.devices.map { .init(id: $0.id, name: $0.name, driver: $0.driver, version: $0.version) },
      units: request.units.description, precision: model.precision)
    let makers = Dictionary(
      model.nodes.flatMap { node in node.outputs.map { ($0.value, node.name) } }
    ) { first, _ in first }
    // Signals and ties are not values of the model.
    let told = Set(
      model.nodes.flatMap { node in
        node.outputs.filter { $0.copies == .infinity || node.role == .branch || node.role == .loop }.map(\.value)
      })
    var plan = Plan(explanation, of: subject, goal: request.goal) { name in
      let inputs = (nodes[name]?.inputs ?? []).filter { !told.contains($0) }.map { makers[$0] ?? $0 }.uniqued
      return (op: operatorName(of: name), origins: [Plan.Origin(name: name, share: 1)], inputs: inputs)
    }
    for index in plan.nodes.indices {
      guard let node = nodes[plan.nodes[index].name] else { continue }
      plan.nodes[index].region = node.region ?? ""
      plan.nodes[index].computation = node.role == nil ? node.key : nil
      if node.role == .branch || node.role == .loop {
        let turns = node.runs ?? 1
        let each = node.role == .loop ? model.trips?[node.name] ?? 1 : 1
        plan.nodes[index].describeControl(turns: turns)
        plan.nodes[index].iterations = each > 0 ? turns / each : 1
      } else {
        plan.nodes[index].iterations = node.runs ?? 1
      }
    }
    return plan
  }
}
