import Kelvin
import KelvinBasics
import KelvinVision

/// What an evaluation found, for people and as a document.
struct EvaluationTable {
  private let evaluation: ClassificationEvaluation
  private let costs: [ClassificationEvaluation.Cost]

  /// Confusions that are shown of each contestant.
  private static let mostConfusions = 5

  init(_ evaluation: ClassificationEvaluation, costs: [ClassificationEvaluation.Cost]) {
    (self.evaluation, self.costs) = (evaluation, costs)
  }

  /// At most 80 columns.
  var text: String {
    var table = TextTable(
      .init("MODEL", shrinksTo: 12, cut: .beginning), .init("TOP-1", .right), .init("95 %", .right),
      .init("TOP-5", .right), .init("BALANCED", .right), .init("ECE", .right), .init("SIZE", .right),
      .init("WARM", .right))
    for (result, cost) in zip(evaluation.results, costs) {
      let (scores, interval) = (result.scores, result.scores.top1.interval)
      table.add(
        result.name, Self.percent(scores.top1.share),
        "\(Self.number(interval.lowerBound))–\(Self.number(interval.upperBound))", Self.percent(scores.top5.share),
        Self.percent(scores.balancedAccuracy), Self.percent(scores.calibration.expectedError),
        HumanReadable.bytes(cost.bytes), HumanReadable.seconds(cost.seconds))
    }
    let count = evaluation.pictures.count
    let lines = [table.text(), "", "\(count) pictures of \(evaluation.results[0].scores.classes.count) classes"]
    let sentences = evaluation.results.dropFirst().map(evaluation.sentence) + evaluation.results.flatMap(confusions)
    return (lines + sentences.flatMap { $0.wrapped(hangingIndent: 2) }).joined(separator: "\n")
  }

  /// What `--json` prints.
  var document: Document {
    Document(
      pictures: evaluation.pictures.count,
      faults: evaluation.faults.map { Document.Fault(image: $0.path, error: describe($0.reason)) },
      results: zip(evaluation.results, costs).enumerated().map { place, pair in
        Document.Result(pair.0, pair.1, place == 0 ? nil : evaluation.comparison(of: pair.0), evaluation.labels)
      })
  }

  private func confusions(of result: ClassificationEvaluation.Result) -> [String] {
    let worst = result.scores.confusions.prefix(Self.mostConfusions)
    guard !worst.isEmpty else { return [] }
    let names = worst.map {
      "\(evaluation.labels[$0.truth]) as \(evaluation.labels[$0.answer])\($0.count > 1 ? " (\($0.count))" : "")"
    }
    return ["\(result.name) took \(names.joined(separator: "; "))"]
  }

  private static func percent(_ share: Double?) -> String { share.map { HumanReadable.percent($0) } ?? "—" }
  private static func number(_ share: Double) -> String { HumanReadable.fixed(share * 100, decimals: 1) }
}
