import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinMeasuring

struct PlanCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Show which device runs each node of a model, its cost there and elsewhere, and the reason.",
    discussion: """
      With --problem FILE, plan solves a planning problem without a model. With --profile FILE of another machine, \
      it shows the plan for that machine; a profile that holds the model's graph needs no model file.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String?

  @Option(help: ArgumentHelp("Solve the planning problem in this JSON file; no model is needed.", valueName: "file"))
  var problem: String?

  @OptionGroup var goals: GoalOptions

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Run the best plans and each device alone before adopting a plan. (default: with --save)"))
  var trial: Bool?

  @Option(help: ArgumentHelp("Write the plan to a file for --plan.", valueName: "file"))
  var save: String?

  @Option(help: ArgumentHelp("Write an HTML report with the placement as a graph.", valueName: "file.html"))
  var report: String?

  @Flag(help: "List every node of a long plan, without folding repeated blocks.")
  var allLayers = false

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      """
      An input's value, for the sample run that finds data-dependent sizes: a .npy file, an image file or a number. \
      Repeatable. (default: made up)
      """, valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @OptionGroup var imageOptions: ImageOptions
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
    if let problem {
      let (solution, remarks) = try BareProblem.solve(
        try LocalFile.read(problem), goal: goals.goal, runs: goals.runs, envelope: goals.envelope)
      remarks.forEach(Console.note)
      // The output is JSON regardless of `--json`, because bare problems come from other programs.
      return printJSON(solution)
    }
    var configuration = try options.configuration(units: units.units)
    goals.complete(&configuration)
    configuration.lastPass = passes.stopAfterPass
    configuration.allowsWhatIf = true
    configuration.links = whatIf.link
    guard let model, try !whatIf.isInside(configuration, model) else {
      return try show(
        try FunctionPlanDocument(ofProfile: model, configuration: configuration),
        taker: "only a machine with these devices can use it with --plan")
    }
    let plan = try planWithProgress(model, configuration)
    plan.loadRemarks.forEach(Console.note)
    try show(plan.document, taker: "use it with --plan")
  }

  private func planWithProgress(_ model: String, _ configuration: ModelConfiguration) throws -> ComputePlan {
    let progress = Progress("planning")
    defer { progress.finish() }
    let isTried = trial ?? (save != nil)
    let file = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks)
    let reader = try imageOptions.reader(of: file, functionName: options.function)
    let values = try inputs.isEmpty ? nil : reader.read(try inputs.pairs(reader), mayLackSome: true)
    return try ComputePlan(
      file, configuration: configuration, trial: isTried ? ComputePlan.trial(onMadeUpInputs: options.seed ?? 0) : nil,
      input: values, seed: options.seed ?? 0)
  }

  /// Writes the requested files and prints the plan.
  private func show(_ plan: FunctionPlanDocument, taker: String) throws {
    if let save { try LocalFile.write(try plan.file(), to: save) }
    if let report { try LocalFile.write(plan.page().utf8, to: report) }
    if output.json {
      try printJSON(plan)
    } else {
      Console.print(plan.text(width: Console.width, showsAllLayers: allLayers, isVerbose: output.verbose))
    }
    if let save { Console.note("the plan is in '\(save)'; \(taker)") }
    if let report { Console.note("the report is in '\(report)'") }
  }
}
