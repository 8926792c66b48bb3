import KelvinBasics
package import KelvinMeasurements
package import KelvinPlanning

extension ReportInput {
  /// Creates the page of a function's plan.
  ///
  /// - Parameters:
  ///   - parts: at least one. For each graph: its plan and solution, the measured seconds of one inference if it was
  ///     tried on this machine, how far the prediction may be off, and the time of each device alone, in words.
  ///   - machine: the machine that the plan is for.
  ///   - notes: the sources of the plan's costs.
  package init(
    plan: Plan,
    parts: [(
      plan: Plan, solution: PlanSolution, measured: Double?, expectedError: (mark: String, basis: String)?,
      alone: [String]
    )],
    format: String, devices: [ReportDevice],
    machine: MachineDescription, kelvinVersion: String, generated: String, findings: [String] = [], notes: [String] = []
  ) {
    let model = plan.subject.model
    let name = model.split(separator: "/").last.map(String.init) ?? model
    self.init(
      title: "Plan of \(name)",
      verdict: Self.verdict(plan, mark: parts.count == 1 ? parts[0].expectedError?.mark : nil),
      kelvinVersion: kelvinVersion, generated: generated,
      machine: machine,
      model: ReportModel(name: model, format: format, layers: plan.nodes.count { $0.turns == nil }, weightBytes: 0),
      workload: "goal: \(plan.goal.rawValue)", devices: devices)
    self.findings = findings + parts.compactMap(\.solution.remark)
    placements = parts.map {
      ReportPlacement(
        units: plan.subject.units, plan: $0.plan, solution: $0.solution, measured: $0.measured,
        expectedError: $0.expectedError,
        alone: $0.alone)
    }
    self.notes = notes
  }

  /// Returns `cpu 12 and vulkan:0 40 layers: 2.10 ms for one prediction, 1.41 × faster than the best single device,
  /// cpu.`
  private static func verdict(_ plan: Plan, mark: String?) -> String {
    let counts = Dictionary(plan.nodes.filter { $0.turns == nil }.map { ($0.device, 1) }, uniquingKeysWith: +)
    let time = "\(HumanReadable.seconds(plan.predicted))\(mark.map { " \($0)" } ?? "") for one warm prediction"
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
