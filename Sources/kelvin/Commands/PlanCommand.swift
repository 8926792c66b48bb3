import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBenchmark
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinProfiling
import KelvinRuntime

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Shows which device runs each node of a model, what it costs there and elsewhere, and why.",
    discussion: """
      With --problem FILE it solves a bare planning problem instead of a model's. With --profile FILE of another \
      machine it answers what the plan would be there; a profile that holds the model's graph needs no model file.
      """)

  @Argument(help: "An .mlpackage folder, or an .mlmodel or .onnx file.")
  var model: String?

  @Option(help: ArgumentHelp("Solve the planning problem in this JSON file; no model is needed.", valueName: "file"))
  var problem: String?

  @Option(
    help: ArgumentHelp("What to minimise: latency, one-shot, throughput or sustained.", valueName: "goal"),
    transform: goal)
  var goal: Goal?

  @Option(help: ArgumentHelp("Write the plan to a file for --plan.", valueName: "file"))
  var save: String?

  @Option(help: ArgumentHelp("Write a page to look at: the placement as a graph.", valueName: "file.html"))
  var report: String?

  @OptionGroup var whatIf: WhatIfOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if model != nil, problem != nil { throw ValidationError("give either a model or --problem FILE") }
    if model == nil, problem == nil, options.profileFile == nil {
      throw ValidationError("give a model, --problem FILE, or --profile FILE with a model's graph in it")
    }
  }

  func run() throws {
    if let problem { return try solve(problem) }
    var loadOptions = try options.loadOptions(units: units.units, goal: goal ?? .latency)
    loadOptions.allowsWhatIf = true
    loadOptions.links = whatIf.link
    guard let model, !whatIf.isInside(loadOptions.profile, model) else {
      return try whatIf.plan(model, loadOptions, save: save, page: report, output)
    }
    let loaded = try loadModel(model, loadOptions)
    let explanation = try loaded.explainWithProgress()
    let plan = try loaded.context.plan(explanation, loaded.options.request)
    loaded.noteCacheComplaint()
    if let save { try OutputFile.write(Array(try plan.json()) + [0x0A], to: save) }
    if let report {
      let page = ReportInput(
        plan: plan, solution: explanation.solution, format: loaded.program.source.format.rawValue,
        devices: loaded.context.inventory.devices.map { ReportDevice($0.info) },
        machine: MachineDescription(SystemFiles()), kelvinVersion: kelvinVersion, generated: ReportDate.now(),
        notes: loaded.remarks)
      try OutputFile.write(Array(HTMLReport.render(page).utf8), to: report)
    }
    let text = PlanReport(loaded, explanation, plan, isVerbose: output.verbose)
    if output.json { try printJSON(text) } else { Console.print(text.text()) }
    if let save { Console.note("the plan is in '\(save)'; give it back with --plan") }
    if let report { Console.note("the page is '\(report)'") }
  }

  /// Prints the placement of a bare problem as JSON, whatever `--json` says: another program asked.
  private func solve(_ path: String) throws {
    var problem = try PlanningProblem(json: Data(try InputFile.read(path)))
    if let goal, goal != problem.goal { problem = try problem.with(goal: goal) }
    try printJSON(try problem.solve())
  }

  private static func goal(_ text: String) throws -> Goal {
    guard let goal = Goal(rawValue: text) else {
      throw ValidationError("'\(text)' is no goal; use \(Goal.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return goal
  }
}

extension PlanningProblem {
  fileprivate func with(goal: Goal) throws(PlanningError) -> PlanningProblem {
    try PlanningProblem(
      devices: devices, host: host, transfers: transfers, inputs: inputs, outputs: outputs, nodes: nodes, goal: goal,
      pins: pins, exclude: exclude, memory: memory, boundarySeconds: boundarySeconds, resource: resource)
  }
}
