import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
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

  @OptionGroup var goals: GoalOptions

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Run the best plans and each device alone before one is adopted. (default: with --save)"))
  var trial: Bool?

  @Option(help: ArgumentHelp("Write the plan to a file for --plan.", valueName: "file"))
  var save: String?

  @Option(help: ArgumentHelp("Write a page to look at: the placement as a graph.", valueName: "file.html"))
  var report: String?

  @OptionGroup var whatIf: WhatIfOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var passes: PassOption
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if model != nil, problem != nil { throw ValidationError("give either a model or --problem FILE") }
    if model == nil, problem == nil, options.profileFile == nil {
      throw ValidationError("give a model, --problem FILE, or --profile FILE with a model's graph in it")
    }
  }

  func run() throws {
    if let problem { return try solve(problem) }
    var loadOptions = try options.loadOptions(units: units.units, goal: goals.goal ?? .latency)
    loadOptions.lastPass = passes.stopAfterPass
    loadOptions.allowsWhatIf = true
    let budget = try goals.complete(&loadOptions.request)
    loadOptions.links = whatIf.link
    guard let model, !whatIf.isInside(loadOptions.profile, model) else {
      return try whatIf.plan(model, loadOptions, save: save, page: report, output, budget: budget)
    }
    let loaded = try loadModel(model, loadOptions)
    loaded.partRemark.map(Console.note)
    var explanation = try loaded.explainWithProgress()
    let tried = try trialRun(loaded, explanation)
    if let tried, loaded.options.request.goal == .latency {
      explanation = explanation.adopting(tried.solution, reason: "measured: \(tried.reason)")
    }
    let plan = try loaded.context.plan(explanation, loaded.options.request)
    loaded.noteCacheComplaint()
    if let save { try OutputFile.write(Array(try plan.json()) + [0x0A], to: save) }
    if let report {
      let page = ReportInput(
        plan: plan, solution: explanation.solution, format: loaded.program.source.format.rawValue,
        devices: loaded.context.inventory.openDevices.map { ReportDevice($0.info) },
        machine: MachineDescription(SystemFiles()), kelvinVersion: kelvinVersion, generated: ReportDate.now(),
        notes: loaded.remarks)
      try OutputFile.write(Array(HTMLReport.render(page).utf8), to: report)
    }
    let text = PlanReport(loaded, explanation, plan, isVerbose: output.verbose, budget: budget, trial: tried)
    if output.json { try printJSON(text) } else { Console.print(text.text()) }
    if let save { Console.note("the plan is in '\(save)'; give it back with --plan") }
    if let report { Console.note("the page is '\(report)'") }
  }

  /// Runs the plans where that is asked for, or where the plan is kept, and there is something to choose.
  private func trialRun(_ loaded: LoadedModel, _ explanation: PlanExplanation) throws -> PlanTrial? {
    guard trial ?? (save != nil), loaded.whatIf == nil, loaded.options.plan == nil else { return nil }
    let inputs = loaded.madeUpTensors(seed: options.seed ?? 0)
    return try PlanTrial.run(loaded.context, explanation, loaded.options.request, inputs: inputs)
  }

  /// Prints the placement of a bare problem as JSON, whatever `--json` says: another program asked.
  private func solve(_ path: String) throws {
    var problem = try PlanningProblem(json: Data(try InputFile.read(path)))
    var start = problem.start
    if let runs = goals.runs {
      start = start ?? .init()
      start?.runs = runs
    }
    let power = try goals.namedEnvelope().map { PlanningProblem.Power($0) }
    if goals.goal != nil || start != problem.start || power != nil {
      problem = try problem.with(goal: goals.goal, start: start, power: power)
    }
    try printJSON(try problem.solve())
  }
}
