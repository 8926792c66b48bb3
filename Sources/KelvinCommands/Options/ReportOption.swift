import ArgumentParser
import Kelvin
import KelvinTables

/// The option for a page with a command's tables.
struct ReportOption: ParsableArguments {
  @Option(help: ArgumentHelp("Write a self-contained HTML page with the results.", valueName: "file.html"))
  var report: String?

  /// Writes the page if one is requested.
  func write(_ page: @autoclosure () throws -> ResultPage) throws {
    guard let report else { return }
    try LocalFile.write(try page().html().utf8, to: report)
    Console.note("wrote \(report)")
  }
}
