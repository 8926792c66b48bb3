import Kelvin
import KelvinVision

extension EvaluationTable {
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
