extension Plan {
  /// Checks the internal consistency of a plan from a file.
  package func validate() throws(PlanningError) {
    let devices = Set(subject.devices.map(\.id))
    if devices.count != subject.devices.count {
      throw PlanningError(.duplicate, "plan devices", "a device is listed twice")
    }
    try check(predicted, "plan predicted")
    try check(gap, "plan gap")
    if let single = bestSingleDevice { try check(single.predicted, "plan bestSingleDevice") }
    var names: [String: Set<String>] = [:]
    for part in parts {
      guard names.updateValue([], forKey: part.name) == nil else {
        throw PlanningError(.duplicate, "plan parts", "a graph '\(part.name)' is listed twice")
      }
      try check(part.predicted, "plan part '\(part.name)' predicted")
      try check(part.gap, "plan part '\(part.name)' gap")
    }
    guard parts.count < 2 || mixture == nil else {
      throw PlanningError(
        .malformed, "plan mixture", "the plan has several parts", remedy: "give each part its own \"mixture\"")
    }
    for (i, node) in nodes.enumerated() {
      guard parts.isEmpty || names[node.part] != nil else {
        throw PlanningError(
          .unknown, "plan node '\(node.name)'", "no part of the plan is called '\(node.part)'",
          remedy: "the parts are " + parts.map(\.name).joined(separator: ", "), node: node.name)
      }
      guard names[node.part, default: []].insert(node.name).inserted else {
        throw PlanningError(.duplicate, "plan nodes[\(i)]", "a node '\(node.name)' is listed before", node: node.name)
      }
      if !devices.isEmpty, !devices.contains(node.device) {
        throw PlanningError(
          .unknown, "plan node '\(node.name)'", "no device of the plan is called '\(node.device)'",
          remedy: "the devices are " + devices.sorted().joined(separator: ", "), node: node.name)
      }
      for origin in node.origins { try check(origin.share, "plan node '\(node.name)' origin '\(origin.name)'") }
      for candidate in node.candidates {
        try check(candidate.seconds ?? 0, "plan node '\(node.name)' on '\(candidate.device)'")
      }
      for transfer in node.transfers {
        try check(transfer.seconds, "plan node '\(node.name)' transfer of '\(transfer.value)'")
        guard transfer.bytes >= 0 else {
          throw PlanningError(
            .invalidNumber, "plan node '\(node.name)' transfer of '\(transfer.value)'", "\(transfer.bytes) bytes",
            node: node.name)
        }
      }
    }
    try check(mixture, "plan mixture", places: nodes)
    for part in parts {
      try check(part.mixture, "plan part '\(part.name)' mixture", places: nodes.filter { $0.part == part.name })
    }
  }

  /// Checks the plans between which predictions alternate.
  ///
  /// - Parameter nodes: the nodes that each plan must place.
  private func check(_ mixture: PlanMixture?, _ subject: String, places nodes: [Node]) throws(PlanningError) {
    guard let mixture else { return }
    let count = mixture.plans.count
    guard (2...PlanMixture.mostPlans).contains(count) else {
      throw PlanningError(
        .invalidNumber, "\(subject) plans", "\(count) plans, expected 2 to \(PlanMixture.mostPlans)",
        remedy: "leave \"mixture\" out for one plan")
    }
    try check(mixture.singlePlanSeconds ?? 0, "\(subject) singlePlanSeconds")
    let devices = Set(self.subject.devices.map(\.id))
    let names = Set(nodes.map(\.name))
    for (i, plan) in mixture.plans.enumerated() {
      let subject = "\(subject) plans[\(i)]"
      guard plan.share > 0, plan.share < 1 else {
        throw PlanningError(.invalidNumber, "\(subject) share", "\(plan.share), expected above 0 and below 1")
      }
      if let missing = names.filter({ plan.placement[$0] == nil }).min() {
        throw PlanningError(.missing, subject, "does not place node '\(missing)'", node: missing)
      }
      if let stranger = plan.placement.keys.filter({ !names.contains($0) }).min() {
        throw PlanningError(
          .unknown, subject, "places node '\(stranger)', which \"nodes\" does not list", node: stranger)
      }
      if !devices.isEmpty, let stranger = plan.placement.values.filter({ !devices.contains($0) }).min() {
        throw PlanningError(
          .unknown, subject, "no device of the plan is called '\(stranger)'",
          remedy: "the devices are " + devices.sorted().joined(separator: ", "))
      }
      for transfer in plan.transfers {
        try check(transfer.seconds, "\(subject) transfer of '\(transfer.value)'")
        try check(Double(transfer.bytes), "\(subject) transfer of '\(transfer.value)' bytes")
      }
    }
    let sum = mixture.plans.reduce(0) { $0 + $1.share }
    guard abs(sum - 1) <= 1e-3 else {
      throw PlanningError(.invalidNumber, "\(subject) plans", "the shares sum to \(sum), expected 1")
    }
  }

  private func check(_ number: Double, _ subject: @autoclosure () -> String) throws(PlanningError) {
    guard number >= 0, number.isFinite else {
      throw PlanningError(.invalidNumber, subject(), "\(number), expected a finite number, 0 or more")
    }
  }

  /// Checks that the plan is for this model and can run on this machine.
  ///
  /// - Parameters:
  ///   - modelKey: the content key of the model; an empty key in the file matches any.
  ///   - graph: the fingerprint of its graph; an empty one in the file matches any.
  ///   - nodes: the names of the graph's nodes; the plan must place exactly these.
  ///   - devices: the available devices.
  /// - Throws: `stale` for another model, graph or machine; `unknown` for a device that is not available.
  package func check(
    modelKey: String, graph: String, nodes names: [String], devices: [String]
  ) throws(PlanningError) {
    let remedy = "plan again with 'kelvin plan --save'"
    if !subject.modelKey.isEmpty, subject.modelKey != modelKey {
      throw PlanningError(
        .stale, "plan", "made for model \(subject.model) (\(subject.modelKey)), this one is \(modelKey)", remedy: remedy
      )
    }
    if !subject.graph.isEmpty, subject.graph != graph {
      throw PlanningError(
        .stale, "plan",
        "made for another graph of this model (\(subject.graph), now \(graph)): other shapes, precision or version",
        remedy: remedy)
    }
    let placed = placement
    for name in names where placed[name] == nil {
      throw PlanningError(.stale, "plan", "does not place node '\(name)'", remedy: remedy, node: name)
    }
    if placed.count > names.count {
      let known = Set(names)
      let stranger = placed.keys.filter { !known.contains($0) }.min() ?? ""
      throw PlanningError(
        .stale, "plan", "places node '\(stranger)', which the graph lacks", remedy: remedy, node: stranger)
    }
    for node in nodes where !devices.contains(node.device) {
      throw PlanningError(
        .unknown, "plan node '\(node.name)'", "device '\(node.device)' is not available here",
        remedy: "the devices are " + devices.joined(separator: ", "), node: node.name)
    }
  }
}
