import KelvinBasics
package import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport

extension ReportPlacement {
  /// Describes a plan as reports show it.
  ///
  /// - Parameters:
  ///   - solution: the planner's solution behind the plan.
  ///   - measured: seconds of one warm inference, if the plan has run.
  ///   - alone: the time of each device alone, in words.
  package init(units: String, plan: Plan, solution: PlanSolution, measured: Double? = nil, alone: [String] = []) {
    let sizes = plan.parts.first?.sampledSizes.map { sizes in
      let listed = sizes.sorted { $0.key < $1.key }.map { name, sizes in
        "\(name) \(sizes.map(String.init).joined(separator: "x"))"
      }
      return " at the sizes of a sample run (\(listed.joined(separator: ", ")))"
    }
    self.init(
      units: units + (plan.parts.first.map { ", graph '\($0.name)'" } ?? "") + (sizes ?? ""), goal: plan.goal.rawValue,
      predicted: plan.predicted, measured: measured,
      bestSingleDevice: plan.bestSingleDevice?.device ?? "", bestSingleSeconds: plan.bestSingleDevice?.predicted,
      facts: Self.facts(solution, alone: alone),
      nodes: plan.nodes.map { node in
        ReportNode(
          name: node.name, op: node.op, inputs: node.inputs, device: node.device, reason: node.reason,
          regret: node.regret,
          candidates: node.candidates.map { candidate in
            if let seconds = candidate.seconds {
              ReportCandidate(device: candidate.device, seconds: seconds, isMeasured: candidate.source == .measured)
            } else {
              ReportCandidate(device: candidate.device, unsupported: candidate.unsupported ?? "")
            }
          },
          transfers: node.transfers.map {
            ReportTransfer(
              value: $0.value, from: $0.from, to: $0.to, bytes: $0.bytes, seconds: $0.seconds,
              isSignal: $0.isSignal == true)
          }, region: node.region, runs: node.trips, isControl: node.turns != nil)
      }, blocks: plan.repeatedBlocks)
  }

  private static func facts(_ solution: PlanSolution, alone: [String]) -> [ReportFact] {
    var facts: [ReportFact] = []
    if solution.method == .approximate {
      facts.append(ReportFact("at most off the optimum", HumanReadable.percent(solution.gap)))
    }
    if let bottleneck = solution.bottleneck, solution.framesPerSecond != nil {
      facts.append(ReportFact("bottleneck", "\(bottleneck.resource), \(HumanReadable.seconds(bottleneck.seconds))"))
    }
    if let rate = solution.framesPerSecond {
      let limit = solution.limitedBy.map { ", limited by \($0)" } ?? ""
      facts.append(ReportFact("predicted rate", HumanReadable.perSecond(rate) + limit))
    }
    if let start = solution.startSeconds { facts.append(ReportFact("paid once", HumanReadable.seconds(start))) }
    if let joules = solution.joules {
      facts.append(ReportFact("energy", HumanReadable.significant(joules * 1000) + " mJ above idle"))
    }
    for flip in solution.flips ?? [] {
      facts.append(ReportFact("from \(counted(flip.runs, "run")) on", "\(flip.to) instead of \(flip.from)"))
    }
    if alone.count > 1 { facts.append(ReportFact("each device alone", alone.joined(separator: ", "))) }
    return facts
  }
}

extension ReportInput {
  /// Creates the page of a function's plan.
  ///
  /// - Parameters:
  ///   - parts: at least one. For each graph: its plan and solution, the measured seconds of one inference if it was
  ///     tried on this machine, and the time of each device alone, in words.
  ///   - machine: the machine that the plan is for.
  ///   - notes: the sources of the plan's costs.
  package init(
    plan: Plan, parts: [(plan: Plan, solution: PlanSolution, measured: Double?, alone: [String])], format: String,
    devices: [ReportDevice],
    machine: MachineDescription, kelvinVersion: String, generated: String, findings: [String] = [], notes: [String] = []
  ) {
    let model = plan.subject.model
    let name = model.split(separator: "/").last.map(String.init) ?? model
    self.init(
      title: "Plan of \(name)", verdict: Self.verdict(plan), findings: findings + parts.compactMap(\.solution.remark),
      kelvinVersion: kelvinVersion, generated: generated, machine: machine,
      model: ReportModel(name: model, format: format, layers: plan.nodes.count { $0.turns == nil }, weightBytes: 0),
      workload: "goal: \(plan.goal.rawValue)", devices: devices,
      placements: parts.map {
        ReportPlacement(
          units: plan.subject.units, plan: $0.plan, solution: $0.solution, measured: $0.measured, alone: $0.alone)
      },
      notes: notes)
  }

  /// Returns `cpu 12 and vulkan:0 40 layers: 2.10 ms for one prediction, 1.41 × faster than the best single device,
  /// cpu.`
  private static func verdict(_ plan: Plan) -> String {
    let counts = Dictionary(plan.nodes.filter { $0.turns == nil }.map { ($0.device, 1) }, uniquingKeysWith: +)
    let time = "\(HumanReadable.seconds(plan.predicted)) for one warm prediction"
    guard counts.count > 1 else { return "\(counts.keys.first ?? "nothing") runs everything: \(time), predicted." }
    let split = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
      "\(counted($0.value, "layer")) on \($0.key)"
    }
    var text = "\(split.joined(separator: ", ")): \(time), predicted"
    if let single = plan.bestSingleDevice, plan.predicted > 0, single.predicted > plan.predicted * 1.0005 {
      let factor = HumanReadable.significant(single.predicted / plan.predicted)
      text += ", \(factor) × faster than the best single device, \(single.device)"
    }
    return text + "."
  }
}
