import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinMeasuring

struct ReportCommand: ParsableCommand, LimitedCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Evaluate the journal of a benchmark, and write its report.",
    usage: "kelvin report [<options>] <journal>",
    discussion: """
      A benchmark records its measurements in a journal: in the file of --journal, or in the cache. All its results \
      can be computed again from the journal, even if the benchmark was interrupted.
      """)

  @Argument(help: "A journal of 'bench'.")
  var journal: String

  @Option(help: ArgumentHelp("Write an HTML report.", valueName: "file.html"))
  var report: String?

  @Option(help: ArgumentHelp("Write a table of all samples.", valueName: "file.csv"))
  var csv: String?

  @OptionGroup var spreadsheet: SpreadsheetOption

  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let result = try Benchmark.Result(contentsOfJournal: URL(filePath: journal))
    if let report { try LocalFile.write(result.htmlReport().utf8, to: report) }
    if let csv { try LocalFile.write(result.csv(escapesFormulas: spreadsheet.csvSafe).utf8, to: csv) }
    if output.json {
      printJSON(try result.json())
    } else {
      Console.print(lines: result.lines)
    }
    if let report { Console.note("the report is in '\(report)'") }
  }
}
