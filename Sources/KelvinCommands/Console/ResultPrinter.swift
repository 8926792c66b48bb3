import ArgumentParser
import Kelvin
import KelvinBasics

/// How lists of results are printed.
enum ListFormat: String, CaseIterable, ExpressibleByArgument {
  /// For people.
  case table
  /// A JSON document on a line for each image, as it is done.
  case jsonl
  /// A line for each thing that was found, as it is done, below one with the columns' names.
  case csv
}

/// What was found on an image, as it is printed.
protocol ImageResult: Encodable {
  /// Of the table, behind the image's.
  static var columns: [TextTable.Column] { get }
  /// Of CSV, between the image's and the error's.
  static var fields: [String] { get }
  var image: String { get }
  var error: String? { get }
  /// For each thing that was found, as many cells as there are columns.
  var rows: [[String]] { get }
  /// For each thing that was found, as many values as there are fields.
  var records: [[String]] { get }
  /// What is said of it under its thumbnail, the surest first.
  var labels: [(name: String, figure: String)] { get }
  /// The files that were made of it, which people are told below the table.
  var files: [String] { get }

  /// An image of which nothing is known, and why.
  init(image: String, error: String?)
}

extension ImageResult {
  var files: [String] { [] }
}

/// Prints what was found on images, in their order.
final class ResultPrinter<Document: ImageResult> {
  private let format: ListFormat
  private let isDocument: Bool
  private var documents: [Document] = []

  /// - Parameter isDocument: whether all is one JSON document, whatever the format.
  init(_ format: ListFormat, isDocument: Bool) {
    self.format = format
    self.isDocument = isDocument
    if format == .csv, !isDocument {
      Console.print((["image"] + Document.fields + ["error"]).joined(separator: ","))
    }
  }

  func add(_ document: Document) throws {
    switch format {
    case _ where isDocument: documents.append(document)
    case .table: documents.append(document)
    case .jsonl: try printJSONLine(document)
    case .csv:
      let records =
        document.error.map { [Document.fields.map { _ in "" } + [$0]] } ?? document.records.map { $0 + [""] }
      guard !records.isEmpty else { return }
      Console.print(
        lines: records.map { record in
          ([document.image] + record).map { DelimitedText.field($0.printable) }.joined(separator: ",")
        })
    }
  }

  func finish() throws {
    if isDocument { return try printJSON(documents) }
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
