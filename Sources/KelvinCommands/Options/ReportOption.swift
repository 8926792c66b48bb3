import ArgumentParser
import Kelvin

/// Where a page with a command's tables is written.
struct ReportOption: ParsableArguments {
  @Option(help: ArgumentHelp("Write a page with the results, which opens anywhere.", valueName: "file.html"))
  var report: String?

  /// Writes the page where one is asked for.
  func write(_ page: @autoclosure () throws -> ResultPage) throws {
    guard let report else { return }
    try LocalFile.write(try page().html().utf8, to: report)
    Console.note("wrote \(report)")
  }
}
