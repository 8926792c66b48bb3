import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinMeasuring

/// The options of `bench`: what is measured.
struct BenchWorkloadOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The workload: one-shot, stream, throughput, tokens, or a .json file.", valueName: "workload"))
  var workload: String = "one-shot"

  @Option(help: ArgumentHelp("The number of frames per second of a stream.", valueName: "n"), transform: decimalNumber)
  var fps: Double?

  @Option(
    help: ArgumentHelp(
      "The video, folder of images or camera whose frames a stream has; by default one input is repeated.",
      valueName: "source"))
  var source: String?

  @Option(
    help: ArgumentHelp(
      "The time that each configuration runs: warm inferences, a stream, throughput or tokens.",
      valueName: "time"), transform: TimeSpan.seconds
  )
  var duration: Double?

  @Option(help: ArgumentHelp("The minimum number of warm inferences for each configuration.", valueName: "n"))
  var iterations: Int?

  @Option(
    help: ArgumentHelp(
      "The number of rounds of warm inferences to compare; twice as many if they do not decide. (default: 20)",
      valueName: "n"))
  var rounds: Int?

  @Option(
    help: ArgumentHelp("The minimum time of warm inferences for each configuration.", valueName: "time"),
    transform: TimeSpan.secondsOrZero)
  var warmSeconds: Double?

  @Option(
    help: ArgumentHelp("The number of inferences in flight for throughput. (default: found by trial)", valueName: "n"))
  var inFlight: Int?

  @Option(help: ArgumentHelp("The number of tokens in the prompt. (default: 32)", valueName: "n"))
  var prompt: Int?

  @Option(help: ArgumentHelp("The number of tokens to generate after the prompt. (default: 128)", valueName: "n"))
  var tokens: Int?

  @Option(
    help: ArgumentHelp(
      "The role of a decoder's input or output whose name does not show it: \(TokenRole.spellings). Repeatable.",
      valueName: "name=role"),
    transform: { try NamedText($0, option: "token-role", form: "NAME=ROLE") })
  var tokenRole: [NamedText] = []

  @Option(
    help: ArgumentHelp(
      "Reserve a share of a device for other processes: cpu=0.5. Repeatable.", valueName: "device=share"),
    transform: { try NamedText($0, option: "reserve", form: "DEVICE=SHARE") })
  var reserve: [NamedText] = []

  @Option(
    help: ArgumentHelp(
      """
      Let another process use a share of a device, memory bandwidth or caches during the run: cpu=0.3, memory=4GB/s, \
      cache=16MB. Repeatable.
      """, valueName: "what=amount"),
    transform: { try NamedText($0, option: "coload", form: "WHAT=AMOUNT") })
  var coload: [NamedText] = []

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      "An input's value: a .npy file, an image file or a number. Repeatable.", valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []
}

/// The options of `bench`: how heat is modelled and governed.
struct BenchHeatOptions: ParsableArguments {
  @Flag(help: "Let a governor lower a stream's rate or use a cheaper plan when the machine gets hot.")
  var governor = false

  @Option(
    help: ArgumentHelp(
      """
      The class of this machine for the thermal model: phone, fanless-board, fanless-laptop, laptop, desktop, server, \
      or a file. --calibrate makes a file for this machine.
      """,
      valueName: "envelope"))
  var envelope: String?

  @Option(
    help: ArgumentHelp(
      "Also run the stream on a machine of this class in virtual time, for --duration seconds.",
      valueName: "envelope"))
  var simulate: String?

  @OptionGroup var simulated: SimulatedHeatOptions

  @Option(
    help: ArgumentHelp(
      """
      Fit an envelope to this machine's sensors, for --envelope, instead of comparing: idle, full load for \
      --duration (default: 240), idle, twice as long in total.
      """, valueName: "file.json"))
  var calibrate: String?
}

/// The options of `bench`: what is checked, compared and written.
struct BenchResultOptions: ParsableArguments {
  @Flag(help: "Do not compare the outputs with the reference device's.")
  var noAgreement = false

  @Option(help: ArgumentHelp("Write an HTML report.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Write a trace of one inference of each configuration, for Perfetto or chrome://tracing.", valueName: "file")
  )
  var trace: String?

  @Option(help: ArgumentHelp("Write a table of all samples.", valueName: "file.csv"))
  var csv: String?

  @OptionGroup var spreadsheet: SpreadsheetOption

  @Option(
    help: ArgumentHelp(
      "Compare each figure with an earlier output of --json.", valueName: "old.json"))
  var compare: String?

  @Option(
    help: ArgumentHelp(
      "With --compare, the share by which a figure may be worse before the exit status is 1. (default: 0.05)",
      valueName: "share"),
    transform: decimalNumber)
  var threshold: Double = 0.05

  @Option(
    help: ArgumentHelp(
      "The file that records measurements during the run, for 'kelvin report'. (default: in the cache)",
      valueName: "file"))
  var journal: String?

  @Option(
    help: ArgumentHelp(
      "The file for the recommended plan, for --plan. (default: in the cache)", valueName: "file"))
  var savePlan: String?
}
