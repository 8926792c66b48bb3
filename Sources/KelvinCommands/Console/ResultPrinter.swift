import ArgumentParser
import Kelvin
import KelvinBasics

/// The output formats of lists of results.
enum ListFormat: String, CaseIterable, ExpressibleByArgument {
  /// A table for people, after all images.
  case table
  /// One JSON document per line for each image, as soon as it is done.
  case jsonl
  /// A header and one line for each result, as soon as it is available.
  case csv
}

/// The results for one image, as they are printed.
protocol ImageResult: Sendable {
  /// The columns of the table after the image's.
  static var columns: [TextTable.Column] { get }
  /// The fields of CSV between the image's and the error's.
  static var fields: [String] { get }
  var image: String { get }
  var error: String? { get }
  var document: JSONObject { get }
  /// The table cells of each result, one per column.
  var rows: [[String]] { get }
  /// The CSV values of each result, one per field.
  var records: [[String]] { get }
  /// The labels below the thumbnail, the most confident first.
  var labels: [(name: String, figure: String)] { get }
  /// The files that were written for the image. They are listed below the table.
  var files: [String] { get }

  /// Creates the result of a failed image, with the reason.
  init(image: String, error: String?)
}

extension ImageResult {
  var files: [String] { [] }
}

/// A printer for the results of images, in their order.
final class ResultPrinter<Document: ImageResult> {
  private let format: ListFormat
  private let isDocument: Bool
  private let isSafe: Bool
  private var documents: [Document] = []

  /// - Parameters:
  ///   - isDocument: Whether to print one JSON document, regardless of the format.
  ///   - isSafe: Whether CSV has no formulas of a spreadsheet.
  init(_ format: ListFormat, isDocument: Bool, isSafe: Bool) {
    self.format = format
    self.isSafe = isSafe
    self.isDocument = isDocument
    if format == .csv, !isDocument {
      Console.print((["image"] + Document.fields + ["error"]).joined(separator: ","))
    }
  }

  func add(_ document: Document) throws {
    switch format {
    case _ where isDocument: documents.append(document)
    case .table: documents.append(document)
    case .jsonl: try printJSONLine(document.document)
    case .csv:
      let records =
        document.error.map { [Document.fields.map { _ in "" } + [$0]] } ?? document.records.map { $0 + [""] }
      guard !records.isEmpty else { return }
      Console.print(
        lines: records.map { record in
          ([document.image] + record).map { DelimitedText.field($0.printable, isSafe: isSafe) }.joined(separator: ",")
        })
    }
  }

  func finish() throws {
    if isDocument { return try printJSON(documents.map(\.document)) }
    let good = documents.filter { $0.error == nil }
    guard format == .table, !good.isEmpty else { return }
    var table = TextTable([.init("IMAGE", shrinksTo: 16, cut: .beginning)] + Document.columns)
    for document in good {
      for (rank, row) in document.rows.enumerated() { table.add([rank == 0 ? document.image : ""] + row) }
      if document.rows.isEmpty {
        table.add([document.image, "—"] + Document.columns.dropFirst().map { _ in "" })
      }
    }
    let files = good.flatMap(\.files)
    Console.print(table.text())
    if !files.isEmpty { Console.print(lines: [""] + files) }
  }
}
