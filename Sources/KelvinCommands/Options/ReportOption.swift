import ArgumentParser
import Kelvin
import KelvinTables

/// The option for a page with a command's tables.
struct ReportOption: ParsableArguments {
  @Option(help: ArgumentHelp("Write a page with the results, which opens anywhere.", valueName: "file.html"))
  var report: String?

  /// Writes the page if one is requested.
  func write(_ page: @autoclosure () throws -> ResultPage) throws {
    guard let report else { return }
    try LocalFile.write(try page().html().utf8, to: report)
    Console.note("wrote \(report)")
  }
}
