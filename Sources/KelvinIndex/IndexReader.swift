import KelvinBasics
package import KelvinFeatures
import KelvinHostOperations

/// A consistent snapshot of an index, as it was when it was opened.
package final class IndexReader {
  package let file: IndexFile
  let database: Database
  /// The description of the model and settings of the index.
  package let facts: IndexFacts

  /// Opens the index.
  ///
  /// - Throws: `absent`, `unusable`, `libraryMissing`, `io`.
  package init(_ file: IndexFile) throws(PhotoIndexError) {
    self.file = file
    WorkBudget.enter(.searching)
    database = try file.openForReading()
    facts = try IndexFacts(database)
  }

  /// Returns the number of images in the index, without unreadable files.
  package func count() throws(PhotoIndexError) -> Int {
    Int(try database.number("SELECT count(*) FROM pictures WHERE error IS NULL"))
  }

  /// Returns the smallest confidence with which each label counts; labels that never count are left out.
  func leastConfidences(_ limits: LabelLimits) throws(PhotoIndexError) -> [Int64: Float] {
    let curves = limits.needsCurve ? try curves() : [:]
    var least: [Int64: Float] = [:]
    let labels = try database.prepare("SELECT id FROM labels")
    while try labels.step() { least[labels.integer(0)] = limits.least(by: curves[labels.integer(0)]) }
    return least
  }

  private func curves() throws(PhotoIndexError) -> [Int64: PrecisionRecallCurve] {
    typealias Points = [PrecisionRecallCurve.Point]
    var points: [Int64: (precision: Points, recall: Points)] = [:]
    let rows = try database.prepare("SELECT label, kind, threshold, value FROM curves")
    while try rows.step() {
      let point = PrecisionRecallCurve.Point(threshold: try rows.score(2), value: try rows.score(3))
      switch try rows.name(1) {
      case "precision": points[rows.integer(0), default: ([], [])].precision.append(point)
      case "recall": points[rows.integer(0), default: ([], [])].recall.append(point)
      case let kind: throw database.damaged("a curve has the kind '\(kind)'")
      }
    }
    guard !points.isEmpty else {
      throw PhotoIndexError(
        .notIndexed,
        "'\(facts.modelName)' has no precision and recall curves; choose labels by confidence (--min-confidence)"
      )
    }
    return points.mapValues { PrecisionRecallCurve(precision: $0.precision, recall: $0.recall) }
  }
}
