import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBenchmark
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinProfiling
import KelvinRuntime

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares ways to run a model, for one photo and for a stream, and says which to pick.",
    discussion: """
      Every --units is one configuration; they take turns in one process and are compared in pairs, so that whatever \
      else the machine does falls on all of them. Without --units: the CPU, each hardware device, and all together.
      """)

  @Argument(help: "An .mlpackage folder, or an .mlmodel or .onnx file.")
  var model: String

  @Option(help: ArgumentHelp("one-shot, stream, throughput, or a workload's .json file.", valueName: "workload"))
  var workload: String = "one-shot"

  @Option(help: ArgumentHelp("Frames that arrive each second of a stream.", valueName: "n"))
  var fps: Double?

  @Option(
    help: ArgumentHelp("Seconds of streaming, or of going as fast as possible, for each configuration.", valueName: "s")
  )
  var duration: Double?

  @Option(help: ArgumentHelp("Warm inferences of each configuration.", valueName: "n"))
  var iterations: Int?

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @Flag(help: "Do not compare the outputs with the reference device's.")
  var noAgreement = false

  @Option(help: ArgumentHelp("Write a page to look at.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp("Write one inference of each configuration for Perfetto or chrome://tracing.", valueName: "file")
  )
  var trace: String?

  @Option(help: ArgumentHelp("Write the plan that the verdict recommends, for --plan.", valueName: "file"))
  var savePlan: String?

  @OptionGroup var pictures: PictureOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard Set(units.unitsList).count == units.unitsList.count else {
      throw ValidationError("the same --units is given twice; comparing it with itself says nothing")
    }
  }

  func run() throws {
    let workload = try adjustedWorkload()
    var loadOptions = try options.loadOptions(units: .all)
    let plan = loadOptions.plan
    loadOptions.plan = nil
    let model = try MeasuredModel(
      model, options: loadOptions, given: inputs, pictures: pictures, seed: options.seed ?? 0)
    let path = self.model
    let readOptions = model.options
    let subject = BenchmarkSubject(
      context: model.loaded.context, format: model.loaded.program.source.format.rawValue, inputs: [model.inputs],
      hasMadeUpInputs: model.hasMadeUpInputs, classes: model.loaded.function.classifier?.graphOutput,
      files: model.loaded.program.source.files, loadSeconds: model.loadSeconds,
      reload: { _ = try LoadedModel(path: path, options: readOptions) })
    var benchmarkOptions = BenchmarkOptions()
    benchmarkOptions.isDeterministic = options.deterministic
    benchmarkOptions.checksAgreement = !noAgreement
    let result = try measuring("bench") { observe in
      let runner = try BenchmarkRunner(
        subject, workload, configurations(model.options.request, plan), options: benchmarkOptions,
        kelvinVersion: kelvinVersion)
      return try runner.run(observe)
    }
    model.loaded.noteCacheComplaint()
    if let report {
      try OutputFile.write(Array(HTMLReport.render(result.report(generated: ReportDate.now())).utf8), to: report)
    }
    if let trace { try OutputFile.write(TraceExport.chromeJSON(result.trace), to: trace) }
    if let savePlan { try OutputFile.write(Array(try result.bestPlan.json()) + [0x0A], to: savePlan) }
    if output.json { return Console.print(String(decoding: try result.json(), as: UTF8.self)) }
    Console.print(result.lines.joined(separator: "\n"))
    if let report { Console.note("the page is '\(report)'") }
    if let savePlan {
      Console.note(
        "the plan of \(result.configurations[result.verdict.best].label) is in '\(savePlan)'; give it back with --plan")
    }
  }

  private func adjustedWorkload() throws -> KelvinBenchmark.Workload {
    do throws(BenchmarkError) {
      var chosen = try KelvinBenchmark.Workload(named: workload)
      if let fps {
        guard chosen.kind == .stream else {
          throw BenchmarkError.invalidRequest("--fps is for a stream, not for \(chosen.name)")
        }
        chosen.framesPerSecond = fps
      }
      if let duration {
        guard chosen.kind != .oneShot else {
          throw BenchmarkError.invalidRequest("--duration is for stream and throughput; one-shot takes --iterations")
        }
        chosen.duration = duration
      }
      if let iterations { chosen.iterations = iterations }
      do throws(BenchmarkError) { try chosen.validate(document: "'\(chosen.name)'") } catch {
        // A number from the command line is the user's slip, a number from a file is the file's.
        let isCommandLine = fps != nil || duration != nil || iterations != nil
        throw isCommandLine ? .invalidRequest(error.description) : error
      }
      return chosen
    } catch { throw error.asCommandError }
  }

  private func configurations(_ request: PlanRequest, _ plan: Plan?) -> [BenchmarkConfiguration] {
    var selections = units.unitsList
    if selections.isEmpty, plan == nil {
      let hardware = deviceInventory.devices.map(\.info).filter { $0.isGPU || $0.kind == .accelerator }
      selections = [.cpuOnly] + hardware.map { .devices([$0.id]) } + (hardware.isEmpty ? [] : [.all])
    }
    var configurations = selections.map { selection in
      var request = request
      request.units = selection
      return BenchmarkConfiguration(label: selection.description, request: request)
    }
    if let plan, let file = options.planFile {
      configurations.append(BenchmarkConfiguration(label: "plan \(file)", request: request, plan: plan))
    }
    return configurations
  }
}
