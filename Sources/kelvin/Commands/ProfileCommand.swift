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

struct ProfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Measures every layer of a model on every device, and what crossing between devices costs.",
    discussion: """
      Devices take turns until the medians are certain or the budget is spent. The measurements are kept for this \
      user, and every later plan uses them. Without --units every device is measured, software drivers included. \
      With --merge it puts saved profiles together instead, of any machines, for 'kelvin plan --profile'.
      """)

  @Argument(help: "An .mlpackage folder, or an .mlmodel or .onnx file.")
  var model: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Put these profiles together, the later over the earlier; needs --save.", valueName: "file"))
  var merge: [String] = []

  @Option(help: ArgumentHelp("Seconds of measuring for each device.", valueName: "s"))
  var budget: Double = 10

  @Option(
    help: ArgumentHelp("The uncertainty of a median that is good enough, in percent of it.", valueName: "percent"))
  var bound: Double = 5

  @Option(help: ArgumentHelp("Write the measurements to a file for --profile.", valueName: "file"))
  var save: String?

  @Option(help: ArgumentHelp("Write one inference on each device for Perfetto or chrome://tracing.", valueName: "file"))
  var trace: String?

  @Option(help: ArgumentHelp("Write a page to look at.", valueName: "file.html"))
  var report: String?

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @OptionGroup var pictures: PictureOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard budget > 0, budget <= 86_400 else { throw ValidationError("--budget takes seconds above 0, at most a day") }
    guard bound > 0, bound <= 100 else { throw ValidationError("--bound takes percent above 0, at most 100") }
    guard merge.isEmpty != (model == nil) else { throw ValidationError("give either a model or --merge FILE FILE") }
    if !merge.isEmpty, save == nil { throw ValidationError("--merge needs --save FILE, where the result goes") }
    guard units.unitsList.count <= 1 else { throw ValidationError("give one --units: a list such as cpu,vulkan:0") }
  }

  func run() throws {
    guard let path = model else { return try mergeProfiles() }
    let cancellation = Cancellation()
    Interrupts.cancelling(cancellation)
    let selection = units.unitsList.first ?? .devices(Self.everyDevice)
    let model = try MeasuredModel(
      path, options: try options.loadOptions(units: selection), given: inputs, pictures: pictures,
      seed: options.seed ?? 0)
    let context = model.loaded.context
    var profilerOptions = ProfilerOptions()
    profilerOptions.budget = budget
    profilerOptions.bound = bound / 100
    profilerOptions.loadSeconds = model.loadSeconds
    let profiler = NodeProfiler(
      context, model.options.request, inputs: model.inputs, options: profilerOptions, kelvinVersion: kelvinVersion,
      cancellation: cancellation)
    let result = try measuring("profiling") { try profiler.run($0) }
    if let cache = context.cache {
      try ProfileStore(cache.directory, kelvinVersion: kelvinVersion).save(result.profile).forEach(Console.note)
      model.loaded.noteCacheComplaint()
    }
    if let save { try OutputFile.write(try result.profile.json(), to: save) }
    if let trace { try OutputFile.write(TraceExport.chromeJSON(result.trace), to: trace) }
    if let report { try OutputFile.write(Array(try page(model, result).utf8), to: report) }
    if output.json {
      Console.print(String(decoding: try result.json(), as: UTF8.self))
    } else {
      Console.print(result.lines(layers: output.verbose ? nil : 24).joined(separator: "\n"))
    }
    if let save { Console.note("the measurements are in '\(save)'; plan with them by --profile") }
    if let trace { Console.note("the trace is in '\(trace)'; open it at ui.perfetto.dev") }
    if let report { Console.note("the page is '\(report)'") }
    if cancellation.isCancelled { throw SilentFailure(status: .interrupted) }
  }

  private static var everyDevice: [String] {
    deviceInventory.devices.map(\.info).filter { $0.kind != .reference && $0.kind != .null }.map(\.id)
  }

  private func mergeProfiles() throws {
    guard let save, let first = merge.first else { return }
    var merged = try readProfile(first)
    for path in merge.dropFirst() {
      let next = try readProfile(path)
      for device in next.devices {
        guard let other = merged.device(device.id), !other.isSame(as: device) else { continue }
        Console.note("'\(path)' has another \(device.id): \(device.name) replaces \(other.name) and all its costs")
      }
      merged = try merged.merging(next, acrossMachines: true)
    }
    try OutputFile.write(try merged.json(), to: save)
    Console.note(
      "\(counted(merged.devices.count, "device")) and \(counted(merged.nodes.count, "layer")) are in '\(save)'")
  }

  /// The profile's page, with the plan that these measurements make.
  private func page(_ model: MeasuredModel, _ result: ProfileResult) throws -> String {
    let context = model.loaded.context.with(costs: CostSheet(result.profile))
    let explanation = try context.explain(model.options.request)
    let plan = try context.plan(explanation, model.options.request)
    let placement = ReportPlacement(
      units: model.options.request.units.description, plan: plan, solution: explanation.solution)
    let page = result.report(
      model: ReportModel(context, format: model.loaded.program.source.format.rawValue), placements: [placement],
      generated: ReportDate.now())
    return HTMLReport.render(page)
  }
}
