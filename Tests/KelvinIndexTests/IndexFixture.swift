import Glibc
import KelvinBasics
import KelvinHostOperations
import KelvinIndex
import TestSupport

/// An index in a folder of its own, filled by hand.
final class IndexFixture {
  let folder = TemporaryFolder()
  var file: IndexFile { IndexFile(folder: folder.path) }

  static func facts(dimensions: Int = 0, identity: String = "a model") -> IndexFacts {
    IndexFacts(
      modelName: "Animals.mlpackage", modelPath: "/models/Animals.mlpackage", identity: identity, settings: [:],
      dimensions: dimensions)
  }

  func writer(
    _ facts: IndexFacts = facts(), curves: [ExactString: PrecisionRecallCurve] = [:], rebuilds: Bool = false
  ) throws -> IndexWriter {
    try IndexWriter(
      file, facts, curves: curves, rebuilds: rebuilds, waiting: { _ in }, isCancelled: { false })
  }

  /// Returns the record of an image with some labels.
  static func record(
    _ path: String, _ labels: [(String, Float)] = [], vector: [Float]? = nil, hash: UInt64 = 1, content: UInt8? = nil,
    modified: Int64 = 0
  ) -> IndexWriter.Record {
    IndexWriter.Record(
      path: path, state: ImageState(size: 10, modified: modified, inode: 1),
      content: content.map { [UInt8](repeating: $0, count: 32) } ?? digest(path),
      finding: .seen(
        ImageFinding(
          width: 40, height: 30, hash: hash, labels: labels.map { (label: $0.0, confidence: $0.1) }, embedding: vector))
    )
  }

  /// Bytes that stand for the digest of a file.
  static func digest(_ text: String) -> [UInt8] {
    Array((Array(text.utf8) + [UInt8](repeating: 0, count: 32)).prefix(32))
  }

  static let hasSQLite = access("/usr/bin/sqlite3", X_OK) == 0

  /// Returns the output of the `sqlite3` program for statements.
  @discardableResult
  func sqlite(_ statements: String) -> String {
    let pipe = popen("sqlite3 '\(file.path)' \"\(statements)\" 2>&1", "r")
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while let pipe, case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { bytes += buffer.prefix(count) }
    pclose(pipe)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The paths that words find, the best first.
  func find(_ words: String?, _ limits: LabelLimits = LabelLimits(), since: Int64? = nil) throws -> [String] {
    var question = IndexReader.Question(limit: 100)
    question.words = try words.map { try LabelQuery($0) }
    question.limits = limits
    question.since = since
    return try IndexReader(file).search(question).matches.map(\.path)
  }
}
