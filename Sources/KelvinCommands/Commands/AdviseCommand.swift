import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinMeasuring

struct AdviseCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "advise",
    abstract:
      "Says which configuration to pick for one photo, a stream, throughput, and for as long as it has to last.",
    discussion: """
      Measures units by precision by threads within --budget, prints one table with a pick for each question, and \
      writes the plan of each pick. Without --photo, --stream, --throughput or --for it answers all four, for 30 frames \
      a second and an hour. Precision levels and units that come to the same are one row; what there was no time for is \
      named. Ctrl-C ends it with what has been found out and exit status 130.
      """)

  @Argument(help: .model)
  var model: String

  @Flag(help: "Answer for a single photo, from the start of a process.")
  var photo = false

  @Option(help: ArgumentHelp("Answer for a stream of so many frames a second.", valueName: "fps"))
  var stream: Double?

  @Flag(help: "Answer for as many photos as will go.")
  var throughput = false

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Answer for a stream that has to last so long: 90, 30m, 1h30m.", valueName: "time"),
    transform: TimeSpan.seconds)
  var horizon: Double?

  @Option(
    help: ArgumentHelp(
      """
      The class of machine on which it has to last: phone, fanless-laptop, laptop, desktop, server, or a file. \
      (default: this machine's)
      """, valueName: "envelope"))
  var envelope: String?

  @Option(
    help: ArgumentHelp("How long measuring may take: 180, 3m. (default: 3m)", valueName: "time"),
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

  @Option(help: ArgumentHelp("Write a page to look at.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp("The folder for the picks' plans, for --plan. (default: in the cache)", valueName: "dir"))
  var savePlans: String?

  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard Set(units.unitsList).count == units.unitsList.count else {
      throw ValidationError("the same --units is given twice; comparing it with itself says nothing")
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
          "the plan for \(pick.question.rawValue) is in '\(file.relativePath)'; give it back with \(options)")
      }
    }
    _ = try saved.get()
    if let report {
      try LocalFile.write(result.htmlReport().utf8, to: report)
      if !output.json { Console.note("the page is '\(report)'") }
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
    if let horizon { advisor.horizon = horizon }
    if let budget { advisor.budget = budget }
    advisor.thermalEnvelope = envelope
    advisor.units = units.unitsList
    advisor.checksAgreement = !noAgreement
    advisor.seed = options.seed ?? 0
    return advisor
  }
}
