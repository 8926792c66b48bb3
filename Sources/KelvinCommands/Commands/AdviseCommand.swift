import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinMeasuring

struct AdviseCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "advise",
    abstract:
      "Recommend a configuration for single photos, streams, throughput and sustained use.",
    discussion: """
      Measures combinations of units, precision and threads within --budget. Prints one table with a pick for each \
      question, and writes the plan of each pick. Without --photo, --stream, --throughput or --for it answers all \
      four questions, for 30 frames per second and one hour.

      Equivalent precision levels and units share one row. The output names the configurations that the budget left \
      no time for. Ctrl-C ends the command with the results so far and exit status 130.

      Units for one photo:
        kelvin advise model.onnx --photo
      Units for a camera on a board without a fan, for an hour:
        kelvin advise model.onnx --stream 30 --for 3600 --envelope fanless-board
      An envelope of your own board, for --envelope, needs temperature sensors:
        kelvin bench model.onnx --workload stream --calibrate board.json
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Flag(help: "Recommend a configuration for a single photo, from the start of a process.")
  var photo = false

  @Option(
    help: ArgumentHelp("Recommend a configuration for a stream of this many frames per second.", valueName: "fps"),
    transform: decimalNumber)
  var stream: Double?

  @Flag(help: "Recommend a configuration for the highest throughput.")
  var throughput = false

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Recommend a configuration for a stream of this duration: 90, 30m, 1h30m.", valueName: "time"),
    transform: TimeSpan.seconds)
  var horizon: Double?

  @Option(
    help: ArgumentHelp(
      """
      The class of machine that has to sustain the stream: phone, fanless-board, fanless-laptop, laptop, desktop, server, or a \
      file. (default: this machine's)
      """, valueName: "envelope"))
  var envelope: String?

  @Option(
    help: ArgumentHelp("The time limit of all measurements: 180, 3m. (default: 3m)", valueName: "time"),
    transform: TimeSpan.seconds)
  var budget: Double?

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @Flag(help: "Do not compare the outputs with the reference device's.")
  var noAgreement = false

  @Option(help: ArgumentHelp("Write an HTML report.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp("The folder for the plans of the picks, for --plan. (default: in the cache)", valueName: "dir"))
  var savePlans: String?

  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard Set(units.unitsList).count == units.unitsList.count else {
      throw ValidationError("--units has the same value twice; give different values")
    }
    if let stream, !(stream > 0 && stream.isFinite) {
      throw ValidationError("--stream \(stream): expected frames a second, above 0")
    }
  }

  func run() throws {
    let inputs = try MeasurementInputs(model, inputs, imageOptions, options)
    let configuration = try options.configuration()
    let result = try measuring("advise") { [advisor = advisor] listener in
      try await advisor.advise(
        inputs.url, configuration, input: inputs.values, starts: SelfLauncher(), listener: listener)
    }
    // The results are printed even if a file cannot be written.
    let saved = Swift.Result { try savePlans.map { try result.savePlans(to: URL(filePath: $0)) } ?? result.keepPlans() }
    let plans = (try? saved.get()) ?? [:]
    if output.json {
      printJSON(try result.json(plans: plans))
    } else {
      Console.print(lines: result.lines)
      for pick in result.picks {
        guard let file = plans[pick.question] else { continue }
        let options = Self.options(of: pick).joined(separator: " and ")
        Console.note(
          "the plan for \(pick.question.rawValue) is in '\(file.relativePath)'; use it with \(options)")
      }
    }
    _ = try saved.get()
    if let report {
      try LocalFile.write(result.htmlReport().utf8, to: report)
      if !output.json { Console.note("the report is in '\(report)'") }
    }
    if result.interruption != nil { throw ReportedFailure(status: .interrupted) }
  }

  /// Returns the options that make other commands use the pick's configuration.
  private static func options(of pick: Advisor.Result.Pick) -> [String] {
    ["--plan", "--threads \(pick.threadCount)"]
      + (pick.precision == .automatic ? [] : ["--precision \(pick.precision.rawValue)"])
  }

  private var advisor: Advisor {
    var advisor = Advisor()
    var asked: Set<Advisor.Question> = []
    if photo { asked.insert(.photo) }
    if stream != nil { asked.insert(.stream) }
    if throughput { asked.insert(.throughput) }
    if horizon != nil { asked.insert(.sustained) }
    if !asked.isEmpty { advisor.questions = asked }
    if let stream { advisor.framesPerSecond = stream }
    if let horizon { advisor.horizon = .seconds(horizon) }
    if let budget { advisor.budget = .seconds(budget) }
    advisor.thermalEnvelope = envelope
    advisor.units = units.unitsList
    advisor.checksAgreement = !noAgreement
    advisor.seed = options.seed ?? 0
    return advisor
  }
}
