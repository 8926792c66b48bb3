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

  private func confusions(of result: ClassificationEvaluation.Result) -> [String] {
    let worst = result.scores.confusions.prefix(Self.mostConfusions)
    guard !worst.isEmpty else { return [] }
    let names = worst.map {
      "\(evaluation.labels[$0.truth]) as \(evaluation.labels[$0.answer])\($0.count > 1 ? " (\($0.count))" : "")"
    }
    return ["\(result.name) took \(names.joined(separator: "; "))"]
  }

  private static func percent(_ share: Double?) -> String { share.map { HumanReadable.percent($0) } ?? "—" }
  private static func number(_ share: Double) -> String { "\((share * 1000).rounded() / 10)" }
  var document: Document {
    Document(
      pictures: evaluation.pictures.count,
      faults: evaluation.faults.map { Document.Fault(image: $0.path, error: describe($0.reason)) },
      results: zip(evaluation.results, costs).enumerated().map { place, pair in
        Document.Result(pair.0, pair.1, place == 0 ? nil : evaluation.comparison(of: pair.0), evaluation.labels)
      })
  }

  struct Document: Encodable {
    struct Fault: Encodable {
      var image: String
      var error: String
    }

    struct Share: Encodable {
      var value: Double?
      var interval: [Double]

      init(_ proportion: Proportion) {
        value = proportion.share
        interval = [proportion.interval.lowerBound, proportion.interval.upperBound]
      }
    }

    struct Class: Encodable {
      var label: String
      var pictures: Int
      var precision: Double?
      var recall: Double?
    }

    struct Bin: Encodable {
      var confidence: Double
      var share: Double?
      var pictures: Int
    }

    struct Confusion: Encodable {
      var label: String
      var answer: String
      var pictures: Int
    }

    struct Comparison: Encodable {
      var difference: Double?
      var interval: [Double]
      var probability: Double
      var onlyFirst: Int
      var onlyThis: Int
    }

    struct Result: Encodable {
      var model: String
      var bytes: Int
      var seconds: Double
      var top1: Share
      var top5: Share
      var balancedAccuracy: Double?
      var calibrationError: Double?
      var againstFirst: Comparison?
      var classes: [Class]
      var calibration: [Bin]
      var confusions: [Confusion]

      init(
        _ result: ClassificationEvaluation.Result, _ cost: ClassificationEvaluation.Cost, _ pairs: PairedProportions?,
        _ labels: [String]
      ) {
        let scores = result.scores
        (model, bytes, seconds) = (result.name, cost.bytes, cost.seconds)
        (top1, top5) = (Share(scores.top1), Share(scores.top5))
        (balancedAccuracy, calibrationError) = (scores.balancedAccuracy, scores.calibration.expectedError)
        againstFirst = pairs.map {
          Comparison(
            difference: $0.difference, interval: [$0.interval.lowerBound, $0.interval.upperBound],
            probability: $0.probability, onlyFirst: $0.onlyFirst, onlyThis: $0.onlySecond)
        }
        classes = scores.classes.map {
          Class(
            label: labels[$0.label], pictures: $0.recall.trials, precision: $0.precision.share, recall: $0.recall.share)
        }
        calibration = scores.calibration.bins.map {
          Bin(confidence: $0.confidence, share: $0.right.share, pictures: $0.right.trials)
        }
        confusions = scores.confusions.map {
          Confusion(label: labels[$0.truth], answer: labels[$0.answer], pictures: $0.count)
        }
      }
    }

    var pictures: Int
    var faults: [Fault]
    var results: [Result]
  }
}
