import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinTables

/// The options for predicting the rows of a table.
struct TableOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The table to predict, one prediction per row; - for standard input.", valueName: "file"))
  var csv: String?

  @Option(
    name: .customLong("output"),
    help: ArgumentHelp(
      "The file for the table of predictions; - for standard output. (default: standard output)", valueName: "file"))
  var outputFile: String?

  @Option(
    help: ArgumentHelp("The separator of cells: one character, or tab. (default: ,)", valueName: "character"),
    transform: separator)
  var separator: Character?

  @Option(
    help: ArgumentHelp(
      "The columns of an input: one, or for an array one per number. Repeatable.",
      valueName: "name=column,…"), transform: { try NamedText($0, option: "columns", form: "NAME=COLUMN,COLUMN") })
  var columns: [NamedText] = []

  @Option(help: ArgumentHelp("Columns to copy before the predictions: id,date.", valueName: "column,…"))
  var keep: String?

  @Flag(help: "Leave the predictions of invalid rows empty, report the rows, and continue.")
  var keepGoing = false

  @OptionGroup var spreadsheet: SpreadsheetOption

  func validate() throws {
    try spreadsheet.validate(writesCSV: csv != nil, "--csv")
    guard csv == nil else { return }
    guard outputFile == nil, columns.isEmpty, keep == nil, separator == nil, !keepGoing else {
      throw ValidationError("--output, --separator, --columns, --keep and --keep-going belong to --csv")
    }
  }

  /// Whether predictions are written to a regular file, which can be read again.
  var isOutputFile: Bool { outputFile.map { !isStream($0) } ?? false }

  /// Returns whether a path is a stream, whose content cannot be read again.
  private func isStream(_ path: String) -> Bool { path == "-" || path.hasPrefix("/dev/") }

  /// Predicts every row of the table.
  func run(
    _ csv: String, _ path: String, _ configuration: ModelConfiguration, _ page: ReportOption, _ output: OutputOptions
  ) throws {
    let target = outputFile ?? "-"
    guard !output.json || target != "-" else {
      throw UsageError("--json takes standard output; name a file for the predictions with --output")
    }
    let (input, result) = (place(csv), place(target))
    let lists = try columnLists()
    let model = try Model.loadWithProgress(path, configuration)
    var prediction = TablePrediction(model)
    prediction.separator = separator ?? ","
    prediction.columns = lists
    prediction.keptColumns = keep.map(Self.names) ?? []
    prediction.skipsFaultyRows = keepGoing
    prediction.escapesFormulas = spreadsheet.csvSafe
    let (table, progress, began) = (prediction, Progress("predicting"), ContinuousClock.now)
    let done = try Interrupts.cancelling {
      try await table.run(from: input, to: result) { state in
        let seconds = (ContinuousClock.now - began).inSeconds
        let left = state.fraction.map { $0 > 0 ? seconds * (1 - $0) / $0 : 0 }
        let rate = Int((Double(state.rowCount) / max(seconds, 1e-9)).rounded())
        progress.update(state.fraction, "\(state.rowCount) rows, \(rate)/s", secondsLeft: left)
      }
    }
    let seconds = (ContinuousClock.now - began).inSeconds
    progress.finish()
    try report(done, seconds, target, path, model, page, output)
  }

  private func report(
    _ done: TablePrediction.Result, _ seconds: Double, _ target: String, _ path: String, _ model: Model,
    _ page: ReportOption, _ output: OutputOptions
  ) throws {
    done.remarks.forEach(Console.note)
    model.remarks.forEach(Console.note)
    for fault in done.faults { Console.error(fault) }
    if done.faultCount > done.faults.count {
      Console.note("\(done.faultCount - done.faults.count) more rows are invalid")
    }
    let rate = Double(done.rowCount) / max(seconds, 1e-9)
    if output.json {
      try printJSON(
        [
          "rows": done.rowCount, "faulty": done.faultCount, "faults": done.faults, "columns": done.columns,
          "output": done.partialPath ?? target, "seconds": seconds, "rowsPerSecond": rate, "model": path,
          "interrupted": done.isCancelled,
        ] as JSONObject)
    } else if !isStream(target), !done.isCancelled {
      Console.print(
        "\(done.rowCount) rows in '\(target)', \(done.faultCount) of them invalid; \(HumanReadable.seconds(seconds)), "
          + "\(Int(rate.rounded())) rows/s")
    }
    try page.write(try resultPage(done, done.partialPath ?? target))
    if done.isCancelled {
      let place = done.partialPath.map { ", which are in '\($0)'; '\(target)' is as it was" } ?? ""
      Console.error("interrupted after \(done.rowCount) rows\(place)")
      throw ReportedFailure(status: .interrupted)
    }
    if done.faultCount > 0 { throw ReportedFailure(status: .badData) }
  }

  /// The largest number of rows on a page. The output file contains all rows.
  private static let mostShown = 200

  private func resultPage(_ done: TablePrediction.Result, _ path: String) throws -> ResultPage {
    let mark = separator?.asciiValue ?? UInt8(ascii: ",")
    let (columns, rows) = try TableRow.first(Self.mostShown, in: path, separator: mark)
    let shown = rows.count < done.rowCount ? "; the first \(rows.count) are shown" : ""
    return ResultPage(
      title: path.lastPathPart,
      summary: "\(counted(done.rowCount, "row")), \(done.faultCount) of them invalid\(shown)",
      tables: [.init(columns: columns, rows: rows.map(\.texts))])
  }

  private func place(_ path: String) -> TablePrediction.Place {
    path == "-" ? .standard : .file(URL(filePath: path))
  }

  private func columnLists() throws -> [String: [String]] {
    var lists: [String: [String]] = [:]
    for item in columns {
      guard lists[exact: item.name] == nil else { throw UsageError("--columns names '\(item.name)' twice") }
      lists[exact: item.name] = Self.names(item.text)
    }
    return lists
  }

  private static func names(_ list: String) -> [String] {
    (try? DelimitedText(list.utf8).rows.first?.fields) ?? [list]
  }

  private static func separator(_ text: String) throws -> Character {
    if text == "tab" { return "\t" }
    guard text.count == 1, let character = text.first, character.isASCII, !"\"\r\n".contains(character) else {
      throw ValidationError("--separator takes one character, or tab, got '\(text)'")
    }
    return character
  }
}
