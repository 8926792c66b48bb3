import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVideo
import KelvinVision
import Synchronization

/// A printer for the answers of a stream, a line for each frame or result, and for the record at the end.
final class StreamPrinter: Sendable {
  private let format: ListFormat
  private let kind: VideoRequest.Kind
  private let names: [String]
  private let top: Int
  private let isDocument: Bool
  private let isSafe: Bool
  private let isForMessages: Bool
  /// Held while a line is written, because sources are answered on several threads.
  private let writing = Mutex(())

  /// - Parameters:
  ///   - names: The names of the sources.
  ///   - top: The number of classes for each frame.
  ///   - isDocument: Whether to print one JSON document at the end, regardless of the format.
  ///   - isSafe: Whether CSV has no formulas of a spreadsheet.
  ///   - isForMessages: Whether the text goes to standard error, because standard output has frames.
  init(
    _ format: ListFormat, _ kind: VideoRequest.Kind, _ names: [String], top: Int, isDocument: Bool, isSafe: Bool,
    isForMessages: Bool
  ) {
    (self.format, self.kind, self.names, self.top) = (format, kind, names, top)
    (self.isDocument, self.isSafe, self.isForMessages) = (isDocument, isSafe, isForMessages)
    guard format == .csv, !isDocument else { return }
    Console.print((["source", "frame", "time", "latency"] + Self.fields(kind) + ["error"]).joined(separator: ","))
  }

  private static func fields(_ kind: VideoRequest.Kind) -> [String] {
    switch kind {
    case .classification: ImageClasses.fields
    case .detection: ["id"] + ImageObjects.fields
    case .segmentation: ImageSegments.fields
    case .pose: ["id"] + ImagePoses.fields
    }
  }

  func add(_ answer: VideoAnalysis.Answer, _ shown: Result<VideoObservations, VisionError>) throws {
    guard format != .table, !isDocument else { return }
    let name = names[answer.source]
    try writing.withLock { _ in
      if format == .jsonl { return try printJSONLine(document(answer, shown, name)) }
      let start =
        [name, "\(answer.frame)"]
        + [answer.time, answer.latency].map { "\(Decimals.few.seconds($0.inSeconds))" }
      let records: [[String]]
      switch shown {
      case .success(let observations): records = self.records(observations, in: answer.size).map { start + $0 + [""] }
      case .failure(let error): records = [start + Self.fields(kind).map { _ in "" } + [describe(error)]]
      }
      guard !records.isEmpty else { return }
      Console.print(
        lines: records.map { record in
          record.map { DelimitedText.field($0.printable, isSafe: isSafe) }.joined(separator: ",")
        })
    }
  }

  /// Prints the record: as JSON, or as text unless lines were printed.
  func finish(_ record: VideoRecord) throws {
    if isDocument { return printJSON(try record.json()) }
    guard format == .table else { return }
    let text = record.text(width: Console.width)
    if isForMessages { Console.write(text.printableLines + "\n", to: 2) } else { Console.print(text) }
  }

  private func document(
    _ answer: VideoAnalysis.Answer, _ shown: Result<VideoObservations, VisionError>, _ name: String
  ) -> JSONObject {
    let few = Decimals.few
    var line: JSONObject = [
      "source": name, "frame": answer.frame, "time": few.seconds(answer.time.inSeconds),
      "latency": few.seconds(answer.latency.inSeconds),
      "width": answer.size.width, "height": answer.size.height,
    ]
    if answer.isLate { line.add("isLate", true) }
    switch shown {
    case .success(.classes(let classes)): line.add("observations", classes.prefix(top).map { $0.document(few) })
    case .success(.objects(let objects)):
      line.add("observations", objects.map { $0.observation.document(in: answer.size, id: $0.id, few) })
    case .success(.segments(let segments)):
      let parts = segments.parts.map { $0.document(mask: nil, few) }
      line.add("observations", parts)
      line.add("classes", parts)
    case .success(.poses(let poses)):
      line.add("observations", poses.map { $0.observation.document(in: answer.size, id: $0.id, few) })
    case .failure(let error):
      line.add("observations", [JSONObject]())
      line.add("error", describe(error))
    }
    return line
  }

  private func records(_ observations: VideoObservations, in size: ImageSize) -> [[String]] {
    func numbered(_ ids: [Int?], _ records: [[[String]]]) -> [[String]] {
      zip(ids, records).flatMap { id, records in records.map { [id.map(String.init) ?? ""] + $0 } }
    }
    switch observations {
    case .classes(let classes): return ImageClasses(image: "", Array(classes.prefix(top))).records
    case .objects(let objects):
      return numbered(
        objects.map(\.id), objects.map { ImageObjects(image: "", size, [$0.observation]).records })
    case .segments(let segments): return ImageSegments("", segments).records
    case .poses(let poses):
      return numbered(
        poses.map(\.id), poses.map { ImagePoses(image: "", size, [$0.observation], leastJoint: 0).records })
    }
  }
}
