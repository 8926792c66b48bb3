import ArgumentParser
import Kelvin
import KelvinConformance

struct OperatorsCommand: ParsableCommand, LimitedCommand {
  static let configuration = CommandConfiguration(
    commandName: "operators", abstract: "List the operators and the devices that run them.",
    usage: "kelvin operators [<options>]",
    discussion: """
      The command asks every device about each conformance case of an operator, as planning asks about a node.
      """)

  @Flag(help: "Print the page docs/operators.md.")
  var markdown = false

  @Flag(help: "List the supported operations of each format, instead of the operators that they become.")
  var formats = false

  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if markdown, output.json { throw ValidationError("--markdown and --json contradict each other") }
    if markdown, formats { throw ValidationError("--markdown and --formats contradict each other") }
  }

  func run() throws {
    if formats {
      let operations = SupportedOperations()
      return try output.json ? printJSON(operations) : Console.print(operations.text(width: Console.width))
    }
    let coverage = OperatorCoverage(DeviceReport.devices)
    if output.json { return try printJSON(coverage.rows) }
    Console.print(markdown ? coverage.markdown() : coverage.text(width: Console.width, isVerbose: output.verbose))
  }
}
