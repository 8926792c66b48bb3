import ArgumentParser
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
import KelvinRuntime

/// Questions about machines that are not there.
struct WhatIfOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Plan as if a link were so, both ways: cpu:vulkan:0=64GB/s,5us. Repeatable.", valueName: "a:b=rate[,latency]"))
  var link: [String] = []

  /// Whether a profile holds the graph that `model` names, and no file does.
  func isInside(_ profile: MeasuredProfile?, _ model: String) -> Bool {
    guard let profile, access(model, F_OK) != 0 else { return false }
    return !profile.models.isEmpty
  }

  /// Plans a graph that only the profile knows, and prints it.
  ///
  /// - Parameter model: its name in the profile; nil where there is but one.
  func plan(
    _ model: String?, _ options: LoadOptions, save: String?, page: String?, _ output: OutputOptions, budget: String?
  ) throws {
    var request = options.request
    let whole = CostSheet(options.profile)
    let inventory = try DeviceInventory(whatIf: whole, threads: request.threads)
    let planner = try ProfilePlanner(try whole.with(links: link, devices: inventory), model: model)
    request.threads = planner.model.threads
    let explanation = try planner.problem(request).explain()
    let plan = planner.plan(explanation, request)
    if let save { try OutputFile.write(Array(try plan.json()) + [0x0A], to: save) }
    let whatIf = WhatIf(options.profile, inventory: deviceInventory, links: link)
    if let page, let profile = options.profile {
      let report = ReportInput(
        plan: plan, solution: explanation.solution, format: "from a profile",
        devices: inventory.devices.map { ReportDevice($0.info) }, machine: profile.machine,
        kelvinVersion: kelvinVersion, generated: ReportDate.now(),
        findings: ["What if: a plan for another machine. Nothing here was run."],
        notes: [whatIf?.note].compactMap { $0 } + (whatIf?.reasons ?? []))
      try OutputFile.write(Array(HTMLReport.render(report).utf8), to: page)
    }
    let report = PlanReport(
      planner, explanation, plan, request, whatIf: whatIf, isVerbose: output.verbose, budget: budget)
    if output.json { try printJSON(report) } else { Console.print(report.text()) }
    if let save { Console.note("the plan is in '\(save)'; only a machine with these devices takes it by --plan") }
    if let page { Console.note("the page is '\(page)'") }
  }
}

/// A profile from a file or, where there is no such file, of those that come with Kelvin.
///
/// - Throws: `FileError`, or `MeasurementError` for a document that is not a profile.
func readProfile(_ path: String) throws -> MeasuredProfile {
  if access(path, F_OK) != 0, let shipped = try ShippedProfiles.standard.profile(path) { return shipped }
  return try MeasuredProfile(json: Array(try InputFile.read(path)), document: path)
}

extension WhatIf {
  /// What a plan says of itself before anything else.
  var lines: [String] {
    var lines = [
      "WHAT IF: a plan for another machine, \(machine). It cannot be run or adopted here unless its devices are."
    ]
    if let note { lines.append("Its figures: \(note)") }
    lines += reasons.map { "- \($0)" }
    return lines.map { $0.paragraph() } + [""]
  }
}
