import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinMeasuring

struct ProfileCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Measure every layer of a model on every device, and the transfers between devices.",
    discussion: """
      Devices take turns until the medians are certain or the budget is spent. The measurements are stored for this \
      user, and every later plan uses them. Without --units, every device is measured, including software drivers. \
      With --merge, profile combines saved profiles of any machines, for 'kelvin plan --profile'.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Combine these profiles, the later over the earlier; needs --save.", valueName: "file"))
  var merge: [String] = []

  @Option(
    help: ArgumentHelp("The time of measurements for each device: 10, 30s, 2m. (default: 10s)", valueName: "time"),
    transform: TimeSpan.seconds)
  var budget: Double = 10

  @Option(
    help: ArgumentHelp("The accepted uncertainty of a median, in percent. (default: 5)", valueName: "percent"),
    transform: decimalNumber)
  var bound: Double = 5

  @Option(help: ArgumentHelp("Write the measurements to a file for --profile.", valueName: "file"))
  var save: String?

  @Option(
    help: ArgumentHelp(
      "Write a trace of one inference on each device, for Perfetto or chrome://tracing.", valueName: "file"))
  var trace: String?

  @Option(help: ArgumentHelp("Write an HTML report.", valueName: "file.html"))
  var report: String?

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard budget <= 86_400 else { throw ValidationError("--budget takes a time above 0, at most a day") }
    guard bound > 0, bound <= 100 else { throw ValidationError("--bound takes percent above 0, at most 100") }
    guard merge.isEmpty != (model == nil) else { throw ValidationError("give either a model or --merge FILE FILE") }
    if !merge.isEmpty, save == nil { throw ValidationError("--merge needs --save FILE for the result") }
    guard units.unitsList.count <= 1 else { throw ValidationError("give one --units: a list such as cpu,vulkan:0") }
  }

  func run() throws {
    guard let model else { return try mergeProfiles() }
    let configuration = try options.configuration()
    let inputs = try MeasurementInputs(model, inputs, imageOptions, options)
    var profiler = Profiler()
    profiler.budget = .seconds(budget)
    profiler.bound = bound / 100
    profiler.seed = options.seed ?? 0
    let profile = try measuring("profiling") { [profiler, units = units.unitsList.first] listener in
      try await profiler.profile(inputs.url, configuration, units: units, input: inputs.values, listener: listener)
    }
    if let save { try profile.save(to: URL(filePath: save)) }
    if let trace { try LocalFile.write(profile.trace(), to: trace) }
    if let report { try LocalFile.write(try profile.htmlReport().utf8, to: report) }
    if output.json {
      printJSON(try profile.json())
    } else {
      Console.print(lines: profile.lines(layers: output.verbose ? nil : 24))
    }
    if let save { Console.note("the measurements are in '\(save)'; plan with them with --profile") }
    if let trace { Console.note("the trace is in '\(trace)'; open it at ui.perfetto.dev") }
    if let report { Console.note("the report is in '\(report)'") }
    if Interrupts.isInterrupted { throw ReportedFailure(status: .interrupted) }
  }

  private func mergeProfiles() throws {
    guard let save else { return }
    let merged = try ModelProfile.merged(merge.map { URL(filePath: $0) }, note: Console.note)
    try LocalFile.write(merged.document, to: save)
    Console.note("\(merged.contents) are in '\(save)'")
  }
}
