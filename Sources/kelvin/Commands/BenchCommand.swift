import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinThermal

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Compares ways to run a model, for one photo and for a stream, and says which to pick.",
    discussion: """
      Every --units is one configuration; they take turns and are compared in pairs, so that whatever else the machine \
      does falls on all of them. Without --units: the CPU, each hardware device, and all together. Ctrl-C ends it with \
      what has been measured and exit status 130; a second Ctrl-C stops at once.
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

  @Option(help: ArgumentHelp("The fewest warm inferences of each configuration.", valueName: "n"))
  var iterations: Int?

  @Option(help: ArgumentHelp("The fewest seconds of warm inferences of each configuration.", valueName: "s"))
  var warmSeconds: Double?

  @Option(help: ArgumentHelp("Inferences in flight for throughput. (default: found by trying)", valueName: "n"))
  var inFlight: Int?

  @Option(
    help: ArgumentHelp("Keep a share of a device free for others: cpu=0.5. Repeatable.", valueName: "device=share"),
    transform: { try NamedText($0, option: "reserve", form: "DEVICE=SHARE") })
  var reserve: [NamedText] = []

  @Option(
    help: ArgumentHelp(
      "Have others use a share of a device meanwhile: cpu=0.3. Repeatable.", valueName: "device=share"),
    transform: { try NamedText($0, option: "coload", form: "DEVICE=SHARE") })
  var coload: [NamedText] = []

  @Flag(help: "Let a governor lower a stream's rate or change to a leaner plan when it gets hot.")
  var governor = false

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @Option(
    help: ArgumentHelp(
      "The class of this machine for the model of heat: phone, fanless-laptop, laptop, desktop, server, or a file.",
      valueName: "envelope"))
  var envelope: String?

  @Option(
    help: ArgumentHelp(
      "Run the stream on a machine of this class as well, in virtual time; --duration is its seconds.",
      valueName: "envelope"))
  var simulate: String?

  @Flag(help: "Do not compare the outputs with the reference device's.")
  var noAgreement = false

  @Option(help: ArgumentHelp("Write a page to look at.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp("Write one inference of each configuration for Perfetto or chrome://tracing.", valueName: "file")
  )
  var trace: String?

  @Option(help: ArgumentHelp("Write every sample as a table.", valueName: "file.csv"))
  var csv: String?

  @Option(
    help: ArgumentHelp(
      "Where the plan that the verdict recommends is written, for --plan. (default: in the cache)", valueName: "file"))
  var savePlan: String?

  @OptionGroup var pictures: PictureOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  /// Enough of the real stream to know what a frame takes.
  private static let secondsBeforeSimulating = 5.0

  func validate() throws {
    guard Set(units.unitsList).count == units.unitsList.count else {
      throw ValidationError("the same --units is given twice; comparing it with itself says nothing")
    }
  }

  func run() throws {
    let cancellation = Cancellation()
    Interrupts.cancelling(cancellation)
    var workload = try adjustedWorkload()
    let machineEnvelope =
      try envelope.map { try ThermalEnvelope(named: $0) } ?? .assumed(for: MachineDescription(SystemFiles()))
    let simulated = try simulate.map { try ThermalEnvelope(named: $0) }
    let coload = workload.coload["cpu"] ?? 0
    if simulated != nil {
      guard workload.kind == .stream else {
        throw UsageError("--simulate is for a stream, not for \(workload.name)")
      }
      workload.duration = min(workload.duration, Self.secondsBeforeSimulating)
      workload.coload["cpu"] = nil
      workload.coldStarts = min(workload.coldStarts, 1)
      workload.starts = min(workload.starts, 1)
    }
    let selections = self.selections
    var loadOptions = try options.loadOptions(units: try .union(selections, in: deviceInventory))
    let plan = loadOptions.plan
    loadOptions.plan = nil
    if let plan, !selections.isEmpty {
      // Its devices count too when stale measurements are set aside.
      loadOptions.request.units = try .union(
        selections + [.devices(plan.placement.values.sorted())], in: deviceInventory)
    }
    let model = try MeasuredModel(
      model, options: loadOptions, given: inputs, pictures: pictures, seed: options.seed ?? 0)
    let subject = BenchmarkSubject(
      context: model.loaded.context, format: model.loaded.program.source.format.rawValue, inputs: [model.inputs],
      hasMadeUpInputs: model.hasMadeUpInputs, classes: model.loaded.scoresOutput,
      files: model.loaded.program.source.files, loadSeconds: model.loadSeconds,
      starter: try FreshStarts(self.model, model.options, inputs: model.inputs, cancellation: cancellation))
    var benchmarkOptions = BenchmarkOptions()
    benchmarkOptions.isDeterministic = options.deterministic
    benchmarkOptions.checksAgreement = !noAgreement
    benchmarkOptions.cancellation = cancellation
    var result = try measuring("bench") { observe in
      let runner = try BenchmarkRunner(
        subject, workload, configurations(selections, model.options.request, plan), options: benchmarkOptions,
        kelvinVersion: kelvinVersion, envelope: machineEnvelope)
      return try runner.run(observe)
    }
    if let simulated, result.interruption == nil {
      do throws(BenchmarkError) {
        result.simulation = try result.simulated(
          on: simulated, from: machineEnvelope, seconds: duration ?? BenchmarkResult.simulatedSeconds,
          coLoad: coload, seed: options.seed ?? 0)
      } catch { throw error.asCommandError }
    }
    let planFile = try keep(result, model.loaded.context)
    model.loaded.noteCacheComplaint()
    if let report {
      try OutputFile.write(Array(HTMLReport.render(result.report(generated: ReportDate.now())).utf8), to: report)
    }
    if let trace { try OutputFile.write(TraceExport.chromeJSON(result.simulation?.trace ?? result.trace), to: trace) }
    if let csv { try OutputFile.write(Array(result.csv().utf8), to: csv) }
    if output.json {
      Console.print(String(decoding: try result.json(), as: UTF8.self))
    } else {
      Console.print(result.lines.joined(separator: "\n"))
      if let report { Console.note("the page is '\(report)'") }
      if let csv { Console.note("the samples are in '\(csv)'") }
    }
    if let planFile {
      let label = result.configurations[result.verdict.best].label
      Console.note("the plan of \(label) is in '\(planFile)'; give it back with --plan")
    }
    if result.interruption != nil { throw SilentFailure(status: .interrupted) }
  }

  /// Writes the verdict's plan where the user wants it, or in the cache.
  ///
  /// - Returns: the file; nil where nothing is kept.
  private func keep(_ result: BenchmarkResult, _ context: ModelContext) throws -> String? {
    let bytes = Array(try result.bestPlan.json()) + [0x0A]
    if let savePlan {
      try OutputFile.write(bytes, to: savePlan)
      return savePlan
    }
    guard let directory = context.cache?.directory else { return nil }
    let base = context.name.split(separator: "/").last.map(String.init) ?? context.name
    let name =
      "plans/\(OutputFile.sanitized("\(base)-\(result.workload.name)"))-\(context.graphKey.description.prefix(8)).json"
    return bytes.withUnsafeBytes { directory.write(name, [$0]) } ? "\(directory.path)/\(name)" : nil
  }

  private func adjustedWorkload() throws -> KelvinBench.Workload {
    do throws(BenchmarkError) {
      var chosen = try KelvinBench.Workload(named: workload)
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
      if let warmSeconds { chosen.warmSeconds = warmSeconds }
      if let inFlight {
        guard chosen.kind == .throughput else {
          throw BenchmarkError.invalidRequest("--in-flight is for throughput, not for \(chosen.name)")
        }
        chosen.inFlight = inFlight
      }
      if governor {
        guard chosen.kind == .stream else {
          throw BenchmarkError.invalidRequest("--governor is for a stream, not for \(chosen.name)")
        }
        chosen.isGoverned = true
      }
      chosen.reserve.merge(try Self.shares(reserve, "--reserve")) { _, given in given }
      chosen.coload.merge(try Self.shares(coload, "--coload")) { _, given in given }
      do throws(BenchmarkError) { try chosen.validate(document: "'\(chosen.name)'") } catch {
        // A number from the command line is the user's slip, a number from a file is the file's.
        let isCommandLine =
          fps != nil || duration != nil || iterations != nil || warmSeconds != nil || inFlight != nil
          || !reserve.isEmpty || !coload.isEmpty
        throw isCommandLine ? .invalidRequest(error.description) : error
      }
      return chosen
    } catch { throw error.asCommandError }
  }

  private static func shares(_ given: [NamedText], _ option: String) throws(BenchmarkError) -> [String: Double] {
    var shares: [String: Double] = [:]
    for item in given {
      guard let share = Double(item.text) else {
        throw .invalidRequest("\(option) \(item.name)=\(item.text): expected a share from 0 to 0.95")
      }
      shares[item.name] = share
    }
    return shares
  }

  /// What is compared: as asked for; without that, and without a plan, the CPU, each hardware device, and all together.
  private var selections: [UnitsSelection] {
    guard units.unitsList.isEmpty, options.planFile == nil else { return units.unitsList }
    let hardware = deviceInventory.hardware([.integratedGPU, .discreteGPU, .accelerator]).map(\.info.id)
    return [.cpuOnly] + hardware.map { .devices([$0]) } + (hardware.isEmpty ? [] : [.all])
  }

  private func configurations(
    _ selections: [UnitsSelection], _ request: PlanRequest, _ plan: Plan?
  ) -> [BenchmarkConfiguration] {
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
