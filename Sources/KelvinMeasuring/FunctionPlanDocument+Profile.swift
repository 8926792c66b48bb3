package import FoundationEssentials
package import Kelvin
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinEngine
package import KelvinFeatures
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
import KelvinRuntime

extension FunctionPlanDocument {
  /// Plans a graph that exists only in a profile, on the profile's devices.
  ///
  /// - Parameters:
  ///   - model: the model's name in the profile; nil if the profile has only one.
  ///   - configuration: names the profile.
  /// - Throws: `ModelError` if no profile is named, or it does not contain such a graph.
  package init(ofProfile model: String?, configuration: ModelConfiguration) throws(ModelError) {
    let options = try configuration.options()
    let budget = try configuration.powerBudget()
    guard let profile = options.profile else {
      throw ModelError(.parameters, "a plan without a model needs a profile with the model's graph in it")
    }
    self = try ModelError.wrapping {
      var request = options.request
      let whole = CostSheet(profile)
      let inventory = try DeviceInventory(whatIf: whole, threads: request.threads)
      let planner = try ProfilePlanner(try whole.with(links: options.links, devices: inventory), model: model)
      request.threads = planner.model.threads
      let explanation = try planner.explain(request)
      let plan = planner.plan(explanation, request)
      let part = PlanDocument(
        explanation, plan, request, of: profile, inventory: planner.inventory, loops: planner.expectations,
        costs: planner.costs, threads: planner.model.threads,
        whatIf: WhatIf(profile, inventory: deviceInventory, links: options.links), budget: budget?.text)
      return FunctionPlanDocument(plan, [part])
    }
  }

  /// Returns whether a profile contains graphs, so that planning needs no model file.
  ///
  /// - Throws: `ModelError` if the profile cannot be read.
  package static func canPlan(fromProfile url: URL) throws(ModelError) -> Bool {
    !(try ModelConfiguration.measuredProfile(url.relativePath)).models.isEmpty
  }
}

extension FunctionPlanDocument {
  /// Renders an HTML page: the placement as a graph, and the cost of every layer on each device.
  package func page() -> String {
    let (machine, inventory) = (parts[0].machine, parts[0].inventory)
    let devices = machine == nil ? inventory.openDevices : inventory.devices
    return HTMLReport.render(
      ReportInput(
        plan: plan,
        parts: parts.map { part in
          (
            plan: part.plan, solution: part.explanation.solution, measured: part.measured(part.explanation.solution),
            expectedError: part.expectedError(part.explanation.solution).words, alone: part.alone
          )
        }, format: parts[0].format,
        devices: devices.map { ReportDevice($0.info) }, machine: machine ?? MachineDescription(SystemFiles()),
        kelvinVersion: kelvinVersion, generated: ReportDate.now(),
        findings: standing,
        notes: parts[0].notes + parts.compactMap(\.proven)))
  }

  /// A sentence for each plan on the page that was not run; empty if all were run.
  private var standing: [String] {
    if parts[0].machine != nil { return ["A plan for another machine. Nothing here was run."] }
    let isTried = parts.allSatisfy { !$0.isAboutThisMachine || $0.measured($0.explanation.solution) != nil }
    return isTried ? [] : ["A prediction: this plan was not tried on this machine."]
  }
}
