import ArgumentParser
import Kelvin
import KelvinConformance

struct OperatorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "operators", abstract: "Lists the operators and which device runs them.",
    discussion: "Every device is asked about every conformance case of an operator, as planning asks it about a node.")

  @Flag(help: "Print the page docs/operators.md.")
  var markdown = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    if markdown, output.json { throw ValidationError("--markdown and --json contradict each other") }
  }

  func run() throws {
    let coverage = OperatorCoverage(DeviceReport.devices)
    if output.json { return try printJSON(coverage.rows) }
    Console.print(markdown ? coverage.markdown() : coverage.text(width: Console.width, isVerbose: output.verbose))
  }
}
