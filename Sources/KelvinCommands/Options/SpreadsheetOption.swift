import ArgumentParser

/// The option for CSV that is opened in a spreadsheet.
struct SpreadsheetOption: ParsableArguments {
  @Flag(
    help: """
      In CSV, put an apostrophe before text that a spreadsheet would take as a formula: text that begins with =, +, -, \
      @, a tab or a carriage return, and is not a number.
      """)
  var csvSafe = false

  /// - Throws: `ValidationError` where the command writes no CSV.
  func validate(writesCSV: Bool, _ option: String) throws {
    guard writesCSV || !csvSafe else { throw ValidationError("--csv-safe belongs to \(option)") }
  }
}
