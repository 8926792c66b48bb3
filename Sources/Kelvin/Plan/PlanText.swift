import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// Formats a plan as a table of its nodes with a summary.
struct PlanText {
  /// The terminal's width in columns.
  let width: Int
  /// Whether every node of a long plan is listed.
  let showsAllLayers: Bool
  /// Whether candidates, origins and folded operations are listed as well.
  let isVerbose: Bool
  private let document: PlanDocument

  init(_ document: PlanDocument, width: Int, showsAllLayers: Bool, isVerbose: Bool) {
    self.document = document
    self.width = width
    self.showsAllLayers = showsAllLayers || isVerbose
    self.isVerbose = isVerbose
  }

  package var plan: Plan { document.plan }
  private var request: PlanRequest { document.request }
  private var explanation: PlanExplanation { document.explanation }

  package func text() -> String {
    var lines = document.whatIf.map { $0.lines(width: width) } ?? []
    lines += [
      "\(plan.subject.model): \(counted(plan.nodes.count { $0.turns == nil }, "node")), units \(request.units), goal \(plan.goal.rawValue), "
        + "precision \(request.precision.rawValue), \(counted(request.threads, "thread"))"
    ].map { $0.paragraph(width: width) }
    lines += plan.nodes.isEmpty ? ["", nothingToPlace] : ["", summary, "", nodeTable, "", legend]
    if let trial = document.trial { lines += ["", trial.text(goal: plan.goal, width: width)] }
    if isVerbose, !document.foldedAway.isEmpty { lines += ["", "Operations without a node:", foldedTable] }
    return lines.joined(separator: "\n")
  }

  private var nothingToPlace: String {
    let reason =
      document.hasUnseenGraphs
      ? "no sample run reached its graphs"
      : document.foldedAway.contains(where: \.isOnHost)
        ? "host operations compute all that remains" : "nothing remains to compute"
    return "Nothing to place: \(reason), \(counted(document.foldedAway.count, "operation"))\(list)."
      .paragraph(width: width)
  }

  /// Says how to list the operations that no node represents.
  private var list: String { isVerbose ? ", listed below" : " (--verbose lists them)" }

  private var summary: String {
    var table = TextTable(.init(""), .init(""))
    func add(_ title: String, _ text: String) {
      for (index, line) in text.wrapped(to: width - 20).enumerated() where !line.isEmpty {
        table.add(index == 0 ? title : "", line)
      }
    }
    let solution = explanation.solution
    let expectedError = document.expectedError(solution)
    let inference = "\(HumanReadable.seconds(plan.predicted)) \(expectedError.mark)"
    let method =
      plan.method == .exact
      ? "no placement is better" : "at most \(HumanReadable.percent(solution.gap)) from the optimum"
    switch plan.goal {
    case .latency:
      table.add("predicted", "\(inference) for one warm prediction")
      table.add("", method)
    case .oneShot:
      let runs = request.runs == 0 ? "the first inference" : "the first inference and \(request.runs) more"
      table.add("in all", "\(HumanReadable.seconds(solution.objective)) for start and \(runs)")
      table.add("", method)
      table.add(
        "of which",
        "start \(HumanReadable.seconds(solution.startSeconds ?? 0)), each inference \(inference)")
      for flip in solution.flips ?? [] {
        table.add("from \(counted(flip.runs, "run")) on", "\(flip.to) in place of \(flip.from)")
      }
    case .throughput, .sustained:
      table.add(
        "predicted",
        (solution.framesPerSecond.map { "\(HumanReadable.framesPerSecond($0)) \(expectedError.mark)" } ?? "any rate")
          + "; \(method)")
      if let bottleneck = solution.bottleneck {
        table.add("bottleneck", "\(bottleneck.resource), \(HumanReadable.seconds(bottleneck.seconds)) for each frame")
      }
      table.add("one inference", "\(inference) when nothing else runs")
    }
    if let mixture = solution.mixture { add("plans", mixture.text) }
    if let joules = solution.joules, plan.goal == .sustained {
      table.add("energy", "\(HumanReadable.significant(joules)) J above idle for each frame")
    }
    add("prediction error", expectedError.basis)
    if let budget = document.budget { table.add("power", budget) }
    add("", solution.remark ?? "")
    if document.isAboutThisMachine {
      let what = plan.goal == .latency ? "measured" : "measured for one inference, not for this goal"
      table.add(
        "tried here", document.measured(solution).map { "\(HumanReadable.seconds($0)) \(what)" } ?? "not tried")
    }
    add("", document.proven ?? "")
    if let single = explanation.bestSingleDevice {
      let controls = Set(plan.nodes.filter { $0.turns != nil }.map(\.name))
      let elsewhere = single.elsewhere.filter { !controls.contains($0) }
      let excess = solution.objective > 0 ? single.solution.objective / solution.objective - 1 : 0
      add(
        "best single device",
        "\(single.device), \(objective(single.solution))"
          + (excess > 0.0005 ? ": \(HumanReadable.percent(excess)) more" : ", as this plan")
          + (elsewhere.isEmpty ? "" : " (\(counted(elsewhere.count, "node")) must run elsewhere)"))
    }
    if explanation.singleDevices.count > 1 {
      add("each device alone", document.alone.joined(separator: ", "))
    }
    for device in plan.nodes.map(\.device).uniqued {
      let nodes = plan.nodes.filter { $0.device == device && $0.turns == nil }
      let seconds = nodes.reduce(0) { $0 + ($1.chosen?.seconds ?? 0) }
      table.add("on \(device)", "\(counted(nodes.count, "node")), \(HumanReadable.seconds(seconds))")
    }
    for loop in document.loops {
      let isWhole = loop.iterations == loop.iterations.rounded() && loop.iterations < 1e9
      let iterations = isWhole ? "\(Int(loop.iterations))" : HumanReadable.significant(loop.iterations)
      table.add(
        "loop '\(loop.loop)'",
        "\(iterations) iteration\(loop.iterations == 1 ? "" : "s") in each inference: \(loop.basis.rawValue)")
    }
    if let weights = document.weights { table.add("weights", weights.text) }
    if let controlText { table.add("control flow", controlText) }
    let transfers = explanation.solution.transfers.filter { $0.isSignal != true }
    let seconds = transfers.reduce(0) { $0 + $1.seconds }
    let bytes = transfers.reduce(0) { $0 + $1.bytes }
    table.add(
      "transfers",
      transfers.isEmpty
        ? "none" : "\(transfers.count), \(HumanReadable.bytes(bytes)), \(HumanReadable.seconds(seconds))")
    for (index, line) in sizeLines.flatMap({ $0.wrapped(to: width - 20) }).enumerated() {
      table.add(index == 0 ? "sizes" : "", line)
    }
    if !idleDevices.isEmpty {
      table.add("not asked for", idleDevices.joined(separator: ", ") + " (--units names devices)")
    }
    let onHost = document.foldedAway.count(where: \.isOnHost)
    let folded = document.foldedAway.count - onHost
    if onHost > 0 { table.add("host operations", "\(counted(onHost, "operation"))\(list)") }
    if folded > 0 { table.add("folded away", "\(counted(folded, "operation"))\(list)") }
    return table.text(width: width)
  }

  /// Returns the predicted objective of a plan, with the name of the quantity and the error of its prediction.
  private func objective(_ solution: PlanSolution) -> String {
    let (seconds, mark) = (HumanReadable.seconds(solution.objective), document.expectedError(solution).mark)
    return switch plan.goal {
    case .latency: "\(seconds) \(mark)"
    case .oneShot: "\(seconds) in all"
    case .throughput, .sustained: "\(seconds) \(mark) for each frame"
    }
  }

  /// The sizes that a sample run found, and the sizes that the plan holds for.
  private var sizeLines: [String] {
    let part = plan.parts.first
    func listed(_ sizes: [String: [Int]]?) -> String {
      (sizes ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \(Shape($0.value))" }.joined(separator: ", ")
    }
    var lines: [String] = []
    if let sampled = part?.sampledSizes {
      let values = (part?.sampledValues ?? [:]).sorted { $0.key < $1.key }.map { name, values in
        "\(name) = [\(values.map { HumanReadable.significant($0) }.joined(separator: ", "))]"
      }
      let found = ([listed(sampled)] + values).filter { !$0.isEmpty }.joined(separator: ", ")
      lines.append("they depend on data; found by a sample run: \(found)")
      if part?.holdsUpTo == nil, values.isEmpty { lines.append("the plan holds for these sizes only") }
    }
    if let held = part.map(\.holdsUpTo) ?? plan.holdsUpTo {
      lines.append("the plan holds up to \(listed(held)), from half of each on")
    }
    return lines
  }

  /// The cost of branches and loops beside the nodes and copies in them; nil if there are none.
  private var controlText: String? {
    let controls = plan.nodes.filter { $0.turns != nil }
    guard !controls.isEmpty else { return nil }
    let host = controls.reduce(0) { $0 + ($1.chosen?.seconds ?? 0) }
    var parts = ["\(HumanReadable.seconds(host)) on \(controls[0].device)"]
    for (device, signals) in Dictionary(
      grouping: explanation.solution.transfers.filter { $0.isSignal == true }, by: \.to
    )
    .sorted(by: { $0.key < $1.key }) {
      parts.append("\(HumanReadable.seconds(signals.reduce(0) { $0 + $1.seconds })) to start \(device)")
    }
    return parts.joined(separator: ", ")
  }

  /// The open devices that the units exclude, without the reference device.
  private var idleDevices: [String] {
    let asked = (try? request.units.devices(in: document.inventory)) ?? []
    return document.inventory.openDevices.map(\.info).filter { info in
      info.kind != .reference && !asked.contains { $0.info.id == info.id }
        && !request.exclusions.contains(info.id)
    }.map(\.id)
  }

  private var legend: String {
    let sources = plan.nodes.compactMap(\.chosen?.source)
    let estimated = sources.count { $0 == .estimated }
    let place = document.whatIf == nil ? "measured on this machine" : "as the profile says"
    let costs =
      estimated == 0
      ? "Costs (*) were \(place)."
      : estimated == sources.count
        ? "Costs (~) are estimates; 'kelvin profile MODEL' measures them."
        : "Costs: * \(place), ~ estimated (\(estimated) of \(sources.count)); 'kelvin profile MODEL' measures them."
    let regions = plan.nodes.contains { !$0.region.isEmpty } ? " In regions: costs of all times together." : ""
    var lines = document.estimates.map { "Estimates for \($0.device): \($0.text)." }
    if plan.goal == .sustained {
      lines += document.powers.map {
        "Energy on \($0.device): \(HumanReadable.significant($0.power.dynamicWatts)) W above idle times seconds; "
          + "\($0.power.source)."
      }
    }
    let unit =
      switch plan.goal {
      case .latency: ""
      case .oneShot: ", in seconds of the total cost"
      case .throughput, .sustained: ", in seconds for each frame"
      }
    let regret =
      " Regret: what the best plan would lose with this node on another device\(unit)"
      + (explanation.hasExactRegrets ? "." : "; at most that, since not every plan was searched.")
    return ([costs + regions + regret] + lines)
      .map { $0.paragraph(width: width) }.joined(separator: "\n")
  }

  private var foldedTable: String {
    var table = TextTable(
      .init("OPERATION", shrinksTo: 20, cut: .beginning), .init("KIND", shrinksTo: 10), .init("WHY", shrinksTo: 20))
    for operation in document.foldedAway { table.add(operation.name, operation.op, operation.reason) }
    return table.text(width: width)
  }
}
