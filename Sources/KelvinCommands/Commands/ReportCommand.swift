import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinMeasuring

struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report", abstract: "Evaluates the journal that a bench kept, and makes its page.",
    discussion: """
      A bench keeps what it measures as it comes, in a journal: with --journal where you say, else in the cache. From it \
      everything can be made again, also where the bench was ended before it could.
      """)

  @Argument(help: "A journal that 'bench' kept.")
  var journal: String

  @Option(help: ArgumentHelp("Write a page to look at.", valueName: "file.html"))
  var report: String?

  @Option(help: ArgumentHelp("Write every sample as a table.", valueName: "file.csv"))
  var csv: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    let result = try Benchmark.Result(contentsOfJournal: URL(filePath: journal))
    if let report { try LocalFile.write(result.htmlReport().utf8, to: report) }
    if let csv { try LocalFile.write(result.csv().utf8, to: csv) }
    if output.json {
      printJSON(try result.json())
    } else {
      Console.print(lines: result.lines)
    }
    if let report { Console.note("the page is '\(report)'") }
  }
}
