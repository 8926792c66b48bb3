import Kelvin
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinMeasurements
import KelvinPasses
import KelvinPlanning
import KelvinRuntime

/// What `kelvin plan` shows: the plan file's document with what was folded away, or a table with its summary.
struct PlanReport: Encodable {
  private let explanation: PlanExplanation
  private let plan: Plan
  private let isVerbose: Bool
  private let request: PlanRequest
  private let inventory: DeviceInventory
  /// Nil where only a profile knows the model.
  private let weights: WeightReport?
  private let loops: [TripExpectation]
  private let foldedAway: [FoldedOperation]
  /// What stands behind the estimated costs, for each device that has some.
  private let estimates: [EstimateBasis]
  /// What energies rest on, for each device that takes part.
  private let powers: [DeviceDraw]
  private let whatIf: WhatIf?
  /// What the power budget is, where the goal has one.
  private let budget: String?
  private let trial: PlanTrial?

  private struct DeviceDraw: Encodable {
    var device: String
    var power: DevicePower
  }

  /// An operation of the source that costs nothing at run time.
  private struct FoldedOperation: Encodable {
    var name: String
    var op: String
    var reason: String
  }

  init(
    _ model: LoadedModel, _ explanation: PlanExplanation, _ plan: Plan, isVerbose: Bool, budget: String? = nil,
    trial: PlanTrial? = nil
  ) {
    self.budget = budget
    self.trial = trial
    self.explanation = explanation
    self.plan = plan
    self.isVerbose = isVerbose
    request = model.options.request
    inventory = model.context.inventory
    weights = WeightReport(model.context.graph)
    loops = model.context.expectations(model.options.request)
    foldedAway = Self.foldedAway(model)
    estimates = Self.estimates(plan, inventory, model.context.costs, threads: request.threads)
    powers = Self.powers(plan, inventory, model.context.costs, threads: request.threads)
    whatIf = model.whatIf
  }

  /// The report of a model that only a profile knows.
  init(
    _ planner: ProfilePlanner, _ explanation: PlanExplanation, _ plan: Plan, _ request: PlanRequest, whatIf: WhatIf?,
    isVerbose: Bool, budget: String? = nil
  ) {
    self.budget = budget
    trial = nil
    self.explanation = explanation
    self.plan = plan
    self.isVerbose = isVerbose
    self.request = request
    inventory = planner.inventory
    weights = nil
    loops = []
    foldedAway = []
    estimates = Self.estimates(plan, inventory, planner.costs, threads: planner.model.threads)
    powers = Self.powers(plan, inventory, planner.costs, threads: planner.model.threads)
    self.whatIf = whatIf
  }

  private static func powers(
    _ plan: Plan, _ inventory: DeviceInventory, _ costs: CostSheet, threads: Int
  ) -> [DeviceDraw] {
    let taking = Set(plan.nodes.flatMap(\.candidates).filter { $0.seconds != nil }.map(\.device))
    return inventory.devices(named: taking).map(\.info).map {
      DeviceDraw(device: $0.id, power: costs.power(of: $0, threads: threads))
    }
  }

  private static func estimates(
    _ plan: Plan, _ inventory: DeviceInventory, _ costs: CostSheet, threads: Int
  ) -> [EstimateBasis] {
    let estimated = Set(
      plan.nodes.flatMap(\.candidates).filter { $0.seconds != nil && $0.source != .measured }.map(\.device))
    return inventory.devices(named: estimated).map(\.info).map {
      costs.basis(of: $0, threads: threads)
    }
  }

  /// The source's operations that no node stands for, in its order, constants left out.
  private static func foldedAway(_ model: LoadedModel) -> [FoldedOperation] {
    let graphs = model.graphs.compactMap { $0?.context.graph }
    let present = Set((graphs + [model.context.graph]).flatMap { $0.nodes.flatMap { $0.origins.map(\.name) } })
    let onHost = Set(model.function.hostSteps.flatMap(\.outputs))
    var reasons: [String: String] = [:]
    for change in model.changes where change.isRemoval {
      for origin in change.origins { reasons[origin.name] = change.reason }
    }
    return model.program.structure.computations(of: model.functionName).compactMap { operation in
      let names = [operation.name] + operation.outputs
      guard !names.contains(where: present.contains) else { return nil }
      let isOnHost = operation.outputs.contains(where: onHost.contains)
      let reason = names.lazy.compactMap { reasons[$0] }.first ?? (isOnHost ? "a step on the host does it" : nil)
      return FoldedOperation(
        name: operation.name.isEmpty ? operation.outputs.first ?? "" : operation.name, op: operation.kind,
        reason: reason ?? "nothing of it runs: its result is known, is its input, or only names outputs")
    }
  }

  private enum CodingKeys: String, CodingKey {
    case foldedAway, transferSeconds, singleDevices, weights, estimates, powers, whatIf
    case objective, lowerBound, bottleneck, joules, framesPerSecond, limitedBy, startSeconds, flips, remark, regrets
    case envelope, trial
  }

  func encode(to encoder: any Encoder) throws {
    try plan.encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(foldedAway, forKey: .foldedAway)
    try fields.encodeIfPresent(weights, forKey: .weights)
    try fields.encode(estimates, forKey: .estimates)
    try fields.encode(powers, forKey: .powers)
    try fields.encodeIfPresent(whatIf, forKey: .whatIf)
    try fields.encode(explanation.solution.transfers.reduce(0) { $0 + $1.seconds }, forKey: .transferSeconds)
    try fields.encode(
      explanation.singleDevices.map { Plan.SingleDevice(device: $0.device, predicted: $0.predicted) },
      forKey: .singleDevices)
    let solution = explanation.solution
    try fields.encode(solution.objective, forKey: .objective)
    try fields.encode(solution.lowerBound, forKey: .lowerBound)
    try fields.encodeIfPresent(solution.bottleneck, forKey: .bottleneck)
    try fields.encodeIfPresent(solution.joules, forKey: .joules)
    try fields.encodeIfPresent(solution.framesPerSecond, forKey: .framesPerSecond)
    try fields.encodeIfPresent(solution.limitedBy, forKey: .limitedBy)
    try fields.encodeIfPresent(solution.startSeconds, forKey: .startSeconds)
    try fields.encodeIfPresent(solution.flips, forKey: .flips)
    try fields.encodeIfPresent(solution.remark, forKey: .remark)
    try fields.encode(explanation.hasExactRegrets ? "exact" : "bounds", forKey: .regrets)
    try fields.encodeIfPresent(budget, forKey: .envelope)
    try fields.encodeIfPresent(trial.map(TrialReport.init), forKey: .trial)
  }

  func text() -> String {
    var lines = whatIf.map { $0.lines } ?? []
    lines += [
      "\(plan.subject.model): \(counted(plan.nodes.count, "node")), units \(request.units), goal \(plan.goal.rawValue), "
        + "precision \(request.precision.rawValue), \(counted(request.threads, "thread"))"
    ].map { $0.paragraph() }
    lines += ["", summary, "", nodeTable, "", legend]
    if let trial { lines += ["", TrialReport(trial).text(goal: plan.goal)] }
    if isVerbose, !foldedAway.isEmpty { lines += ["", "Folded away before planning:", foldedTable] }
    return lines.joined(separator: "\n")
  }

  /// The reason that most nodes have; the others' are told one by one.
  private var commonReason: String? {
    let counts = Dictionary(grouping: plan.nodes, by: \.reason).mapValues(\.count)
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }.flatMap { $0.value > 1 ? $0.key : nil }
  }

  private var nodeTable: String {
    let common = commonReason
    var table = TextTable(
      .init("NODE", shrinksTo: 14, cut: .beginning), .init("OP", shrinksTo: 8), .init("DEVICE"), .init("COST", .right),
      .init("REGRET", .right))
    for run in NodeRun.fold(plan.nodes, isVerbose: isVerbose) {
      let node = run.first
      let chosen = node.candidates.first { $0.device == node.device }
      var remarks: [String] = node.reason == common ? [] : [node.reason]
      if isVerbose, node.candidates.count > 1 { remarks.append(candidates(node)) }
      if isVerbose, node.origins.count > 1 { remarks.append(origins(node)) }
      remarks += node.transfers.map { transfer in
        "copies \(transfer.value) (\(HumanReadable.bytes(transfer.bytes))) \(transfer.from) → \(transfer.to): "
          + HumanReadable.seconds(transfer.seconds)
      }
      if run.nodes.count > 1 {
        table.add(
          [
            "\(node.name) … \(run.last.name)", counted(run.nodes.count, "node"), node.device,
            (run.isMeasured ? "*" : "~") + HumanReadable.seconds(run.seconds),
            run.regret.map { "≥ " + HumanReadable.seconds($0) } ?? "—",
          ], remarks: remarks)
        continue
      }
      table.add(
        [
          node.name, node.op, node.device, chosen.map { Self.cost($0) } ?? "—",
          node.regret.map(HumanReadable.seconds) ?? "—",
        ], remarks: remarks)
    }
    guard let common else { return table.text() }
    let isOnly = plan.nodes.allSatisfy { $0.reason == common }
    return table.text() + "\n\n"
      + "Why, for \(isOnly ? "every node" : "every node without a reason below it"): \(common).".paragraph()
  }

  private func candidates(_ node: Plan.Node) -> String {
    node.candidates.map { candidate in
      candidate.seconds == nil
        ? "\(candidate.device) cannot: \(candidate.unsupported ?? "unsupported")"
        : "\(candidate.device) \(Self.cost(candidate))"
    }.joined(separator: ", ")
  }

  private func origins(_ node: Plan.Node) -> String {
    "made of "
      + node.origins.map { "\($0.name) \(HumanReadable.percent($0.share, decimals: 0))" }.joined(separator: ", ")
  }

  /// A cost with its mark: `*` measured here, `~` estimated.
  private static func cost(_ candidate: PlanCandidate) -> String {
    (candidate.source == .measured ? "*" : "~") + HumanReadable.seconds(candidate.seconds ?? .nan)
  }

  private var summary: String {
    var table = TextTable(.init(""), .init(""))
    let solution = explanation.solution
    let method =
      plan.method == .exact
      ? "no placement does better" : "at most \(HumanReadable.percent(solution.gap)) from the best there is"
    switch plan.goal {
    case .latency:
      table.add("predicted", "\(HumanReadable.seconds(plan.predicted)) for one warm prediction; \(method)")
    case .oneShot:
      let runs = request.runs == 0 ? "the first inference" : "the first inference and \(request.runs) more"
      table.add("in all", "\(HumanReadable.seconds(solution.objective)) for start and \(runs)")
      table.add("", method)
      table.add(
        "of which",
        "start \(HumanReadable.seconds(solution.startSeconds ?? 0)), each inference "
          + HumanReadable.seconds(plan.predicted))
      for flip in solution.flips ?? [] {
        table.add("from \(counted(flip.runs, "run")) on", "\(flip.to) in place of \(flip.from)")
      }
    case .throughput, .sustained:
      table.add(
        "predicted", (solution.framesPerSecond.map(HumanReadable.framesPerSecond) ?? "any rate") + "; \(method)")
      if let bottleneck = solution.bottleneck {
        table.add("bottleneck", "\(bottleneck.resource), \(HumanReadable.seconds(bottleneck.seconds)) for each frame")
      }
      table.add("one inference", "\(HumanReadable.seconds(plan.predicted)) when nothing else runs")
    }
    if let joules = solution.joules, plan.goal == .sustained {
      table.add("energy", "\(HumanReadable.significant(joules)) J above idle for each frame")
    }
    if let budget { table.add("power", budget) }
    if let remark = solution.remark {
      for line in remark.wrapped(to: Console.width - 20) { table.add("", line) }
    }
    if let single = explanation.bestSingleDevice {
      let excess = solution.objective > 0 ? single.solution.objective / solution.objective - 1 : 0
      table.add(
        "best single device",
        "\(single.device), \(HumanReadable.seconds(single.solution.objective))"
          + (excess > 0.0005 ? ": \(HumanReadable.percent(excess)) more" : ", as this plan")
          + (single.elsewhere.isEmpty ? "" : " (\(counted(single.elsewhere.count, "node")) must run elsewhere)"))
    }
    if explanation.singleDevices.count > 1 {
      let all = explanation.singleDevices.sorted { $0.solution.objective < $1.solution.objective }
      table.add(
        "each device alone",
        all.map { "\($0.device) \(HumanReadable.seconds($0.solution.objective))" }.joined(separator: ", "))
    }
    for device in plan.nodes.map(\.device).uniqued {
      let nodes = plan.nodes.filter { $0.device == device }
      let seconds = nodes.reduce(0) { sum, node in
        sum + (node.candidates.first { $0.device == device }?.seconds ?? 0)
      }
      table.add("on \(device)", "\(counted(nodes.count, "node")), \(HumanReadable.seconds(seconds))")
    }
    for loop in loops {
      let isWhole = loop.trips == loop.trips.rounded() && loop.trips < 1e9
      let trips = isWhole ? "\(Int(loop.trips))" : HumanReadable.significant(loop.trips)
      table.add("loop '\(loop.loop)'", "\(trips) trips in each inference: \(loop.basis.rawValue)")
    }
    if let weights { table.add("weights", weights.text) }
    let transfers = explanation.solution.transfers
    let seconds = transfers.reduce(0) { $0 + $1.seconds }
    let bytes = transfers.reduce(0) { $0 + $1.bytes }
    table.add(
      "transfers",
      transfers.isEmpty
        ? "none" : "\(transfers.count), \(HumanReadable.bytes(bytes)), \(HumanReadable.seconds(seconds))")
    if !idleDevices.isEmpty {
      table.add("not asked for", idleDevices.joined(separator: ", ") + " (--units names devices)")
    }
    if !foldedAway.isEmpty {
      table.add(
        "folded away",
        "\(counted(foldedAway.count, "operation"))" + (isVerbose ? ", listed below" : " (--verbose lists them)"))
    }
    return table.text()
  }

  /// Devices that the units leave out though their driver is open, the reference device apart.
  private var idleDevices: [String] {
    let asked = (try? request.units.devices(in: inventory)) ?? []
    return inventory.openDevices.map(\.info).filter { info in
      info.kind != .reference && !asked.contains { $0.info.id == info.id }
        && !request.exclusions.contains(info.id)
    }.map(\.id)
  }

  private var legend: String {
    let sources = plan.nodes.compactMap { node in node.candidates.first { $0.device == node.device }?.source }
    let estimated = sources.count { $0 == .estimated }
    let place = whatIf == nil ? "measured on this machine" : "as the profile says"
    let costs =
      estimated == 0
      ? "Costs (*) were \(place)."
      : estimated == sources.count
        ? "Costs (~) are estimates; 'kelvin profile MODEL' measures them."
        : "Costs: * \(place), ~ estimated (\(estimated) of \(sources.count)); 'kelvin profile MODEL' measures them."
    var lines = estimates.map { "Estimates for \($0.device): \($0.text)." }
    if plan.goal == .sustained {
      lines += powers.map {
        "Energy on \($0.device): \(HumanReadable.significant($0.power.dynamicWatts)) W above idle times seconds; "
          + "\($0.power.source)."
      }
    }
    let unit =
      switch plan.goal {
      case .latency: ""
      case .oneShot: ", in seconds of all that is paid"
      case .throughput, .sustained: ", in seconds for each frame"
      }
    let regret =
      " Regret: what the best plan would lose with this node on another device\(unit)"
      + (explanation.hasExactRegrets ? "." : "; at most that, since not every plan was searched.")
    return ([costs + regret] + lines)
      .map { $0.paragraph() }.joined(separator: "\n")
  }

  private var foldedTable: String {
    var table = TextTable(
      .init("OPERATION", shrinksTo: 20, cut: .beginning), .init("KIND", shrinksTo: 10), .init("WHY", shrinksTo: 20))
    for operation in foldedAway { table.add(operation.name, operation.op, operation.reason) }
    return table.text()
  }
}

/// `1 node`, `2 nodes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

extension Array where Element: Hashable {
  /// The elements without repetitions, in order of first appearance.
  fileprivate var uniqued: [Element] {
    var seen = Set<Element>()
    return filter { seen.insert($0).inserted }
  }
}
