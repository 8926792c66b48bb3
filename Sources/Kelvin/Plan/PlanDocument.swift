import KelvinBasics
import KelvinDevices
package import KelvinEngine
import KelvinGraph
package import KelvinMeasurements
import KelvinPasses
package import KelvinPlanning
package import KelvinRuntime

/// The plan of one graph with all background information: the plan file's document, folded operations, the basis of the
/// costs and the alternatives. It is encoded as JSON and formatted by `PlanText`.
package struct PlanDocument: Encodable, Sendable {
  package let explanation: PlanExplanation
  package let plan: Plan
  let request: PlanRequest
  package let inventory: DeviceInventory
  /// The model's weights; nil if the model exists only in a profile.
  let weights: WeightReport?
  let loops: [IterationExpectation]
  let foldedAway: [FoldedOperation]
  private let costs: CostSheet
  /// The thread count of the CPU device.
  private let threads: Int
  /// The present pace of the processors (`ProcessorPace`); nil if it has no effect on the predictions.
  private let pace: Double?
  let whatIf: WhatIf?
  /// A description of the power budget, if the goal has one.
  let budget: String?
  let trial: TrialReport?
  /// The trials of this graph, earlier or current; nil if there are none.
  let tried: TriedPlans?

  struct DeviceDraw: Encodable, Sendable {
    var device: String
    var power: DevicePower
  }

  /// An operation of the source that no node represents.
  struct FoldedOperation: Encodable, Sendable {
    var name: String
    var op: String
    var reason: String
    /// Whether a host operation performs it.
    var isOnHost: Bool
  }

  /// The source format's name: `onnx`, `mlProgram`.
  package let format: String
  /// The machine that the plan is for; nil for this one.
  package let machine: MachineDescription?
  /// Whether a graph has data-dependent sizes and was not reached by a sample run.
  let hasUnseenGraphs: Bool
  /// Whether the plan was given, so that it runs as it is.
  private let isGiven: Bool
  /// Notes for the page's reader.
  package let notes: [String]

  /// - Parameters:
  ///   - pace: the present pace of the processors; nil if it has no effect on the predictions.
  ///   - showsFolded: whether the folded operations of all graphs of the function are shown with this graph.
  init(
    _ model: LoadedModel, _ graph: LoadedGraph, _ explanation: PlanExplanation, _ plan: Plan, budget: String? = nil,
    trial: TrialReport? = nil, pace: Double? = nil, showsFolded: Bool = true
  ) {
    self.budget = budget
    self.pace = pace
    self.trial = trial
    tried = trial?.deciding ?? (model.whatIf == nil ? graph.context.trial(model.options.request) : nil)
    self.explanation = explanation
    self.plan = plan
    request = model.options.request
    inventory = model.context.inventory
    weights = WeightReport(graph.context.graph)
    loops = graph.context.expectations(model.options.request)
    foldedAway = showsFolded ? Self.foldedAway(model) : []
    (costs, threads) = (model.context.costs, request.threads)
    whatIf = model.whatIf
    format = model.program.source.format.rawValue
    machine = nil
    hasUnseenGraphs = model.graphs.contains { $0 == nil }
    notes = model.remarks
    isGiven = graph.options.plan != nil
  }

  /// Describes the plan of a model that only a profile knows.
  ///
  /// - Parameters:
  ///   - loops: how often the profile's loops run.
  ///   - threads: of the CPU device.
  package init(
    _ explanation: PlanExplanation, _ plan: Plan, _ request: PlanRequest, of profile: MeasuredProfile,
    inventory: DeviceInventory, loops: [IterationExpectation], costs: CostSheet, threads: Int, whatIf: WhatIf?,
    budget: String? = nil
  ) {
    self.budget = budget
    pace = nil
    trial = nil
    tried = nil
    self.explanation = explanation
    self.plan = plan
    self.request = request
    self.inventory = inventory
    weights = nil
    self.loops = loops
    foldedAway = []
    (self.costs, self.threads) = (costs, threads)
    self.whatIf = whatIf
    format = "from a profile"
    machine = profile.machine
    hasUnseenGraphs = false
    notes = [whatIf?.note].compactMap { $0 } + (whatIf?.reasons ?? [])
    isGiven = false
  }

  package var isAboutThisMachine: Bool { whatIf == nil && machine == nil }

  /// Returns the measured seconds of a plan that was run on this machine.
  package func measured(_ solution: PlanSolution) -> Double? { tried?.entry(solution.placement)?.seconds }

  /// How far the predicted time of one inference of a plan may be off.
  package func expectedError(_ solution: PlanSolution) -> ExpectedError {
    // Only devices of the plan: the whole inventory would open every driver.
    costs.expectedError(
      of: solution, in: explanation,
      devices: inventory.devices(named: Set(solution.placement.values)).map(\.info), model: plan.subject.modelKey,
      threads: threads, pace: pace)
  }

  /// A sentence for each single device with its time and whether it was run on this machine, the fastest first.
  package var alone: [String] {
    explanation.alone(
      goal: plan.goal, mark: { expectedError($0).mark }, isAboutThisMachine ? { measured($0) } : nil)
  }

  /// The remark about the plan that the model actually runs, if it differs from this plan; nil if it does not differ,
  /// or the plan is for another machine.
  package var proven: String? {
    isAboutThisMachine && !isGiven ? explanation.proven(by: tried, goal: request.goal).remark : nil
  }

  /// The power figures that energies are based on, for each device that takes part.
  var powers: [DeviceDraw] {
    let taking = Set(plan.nodes.flatMap(\.candidates).filter { $0.seconds != nil }.map(\.device))
    return inventory.devices(named: taking).map(\.info).map {
      DeviceDraw(device: $0.id, power: costs.power(of: $0, threads: threads))
    }
  }

  /// The basis of the estimated costs, for each device that has estimates. Computing the error bounds takes
  /// milliseconds.
  var estimates: [EstimateBasis] {
    let estimated = Set(
      plan.nodes.flatMap(\.candidates).filter { $0.seconds != nil && $0.source != .measured }.map(\.device))
    return inventory.devices(named: estimated).map(\.info).map {
      costs.basis(of: $0, threads: threads)
    }
  }

  /// Returns the source's operations that no node represents, in the source's order, without constants.
  private static func foldedAway(_ model: LoadedModel) -> [FoldedOperation] {
    let hasUnseenGraphs = model.graphs.contains { $0 == nil }
    let graphs = model.graphs.compactMap { $0?.context.graph }
    let present = Set((graphs + [model.context.graph]).flatMap { $0.nodes.flatMap { $0.origins.map(\.name) } })
    let onHost = Set(model.function.hostOperations.flatMap(\.outputs))
    var reasons: [String: String] = [:]
    for change in model.graphs.compactMap({ $0?.changes }).joined() where change.isRemoval {
      for origin in change.origins { reasons[origin.name] = change.reason }
    }
    return model.program.structure.computations(of: model.functionName).compactMap { operation in
      let names = [operation.name] + operation.outputs
      guard !names.contains(where: present.contains) else { return nil }
      let reason = names.lazy.compactMap { reasons[$0] }.first
      let isOnHost = reason == nil && operation.outputs.contains(where: onHost.contains)
      return FoldedOperation(
        name: operation.name.isEmpty ? operation.outputs.first ?? "" : operation.name, op: operation.kind,
        reason: reason
          ?? (isOnHost
            ? "a host operation computes it"
            : hasUnseenGraphs
              ? "no sample run reached it, or none of it runs"
              : "none of it runs: its result is known, is its input, or only names outputs"),
        isOnHost: isOnHost)
    }
  }

  /// `tried` tells whether the plan was run on this machine, one inference at a time, and its measured seconds.
  /// `predictionError` tells how far `predicted` may be off.
  package func encode(to encoder: any Encoder) throws {
    let solution = explanation.solution
    let measured = measured(solution)
    let document: JSONObject = [
      "foldedAway": foldedAway, "weights": weights, "estimates": estimates, "powers": powers, "whatIf": whatIf,
      "transferSeconds": solution.transfers.reduce(0) { $0 + $1.seconds },
      "singleDevices": explanation.singleDevices.map { single -> JSONObject in
        [
          "device": single.device, "predicted": single.predicted, "predictionError": expectedError(single.solution),
          "measured": self.measured(single.solution),
        ]
      },
      "predictionError": expectedError(solution), "objective": solution.objective, "lowerBound": solution.lowerBound,
      "bottleneck": solution.bottleneck,
      "joules": solution.joules, "framesPerSecond": solution.framesPerSecond, "limitedBy": solution.limitedBy,
      "startSeconds": solution.startSeconds, "flips": solution.flips, "remark": solution.remark,
      "regrets": explanation.hasExactRegrets ? "exact" : "bounds", "envelope": budget, "trial": trial,
      "tried": ["here": measured != nil, "measured": measured] as JSONObject, "wouldRun": proven,
    ]
    try document.extending(plan).encode(to: encoder)
  }
}
