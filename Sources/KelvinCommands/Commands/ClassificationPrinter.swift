import Kelvin
import KelvinBasics
import KelvinVision

/// Prints what was seen on pictures, in their order.
final class ClassificationPrinter {
  private struct Observation: Encodable {
    var identifier: String
    var confidence: Double
  }

  private struct Document: Encodable {
    var image: String
    var observations: [Observation]
    var error: String?
  }

  private let format: PictureResultFormat
  private let isDocument: Bool
  private var documents: [Document] = []

  /// - Parameter isDocument: whether all is one JSON document, whatever the format.
  init(_ format: PictureResultFormat, isDocument: Bool) {
    self.format = format
    self.isDocument = isDocument
    if format == .csv { Console.print("image,identifier,confidence,error") }
  }

  func add(_ path: String, _ observations: [ClassificationObservation], error: String?) throws {
    let document = Document(
      image: path,
      observations: observations.map { Observation(identifier: $0.identifier, confidence: Double($0.confidence)) },
      error: error)
    switch format {
    case _ where isDocument: documents.append(document)
    case .table: documents.append(document)
    case .jsonl: try printJSONLine(document)
    case .csv:
      let rows = document.observations.map { [path, $0.identifier, "\($0.confidence)", ""] }
      let lines = error.map { [[path, "", "", $0]] } ?? rows
      Console.print(lines: lines.map { $0.map { DelimitedText.field($0.printable) }.joined(separator: ",") })
    }
  }

  func finish() throws {
    if isDocument { return try printJSON(documents) }
    let good = documents.filter { $0.error == nil }
    guard format == .table, !good.isEmpty else { return }
    var table = TextTable(
      .init("IMAGE", shrinksTo: 16, cut: .beginning), .init("LABEL", shrinksTo: 16), .init("CONFIDENCE", .right))
    for document in good {
      for (rank, observation) in document.observations.enumerated() {
        table.add(
          rank == 0 ? document.image : "", observation.identifier, HumanReadable.percent(observation.confidence))
      }
      if document.observations.isEmpty { table.add(document.image, "—", "") }
    }
    Console.print(table.text())
  }
}
