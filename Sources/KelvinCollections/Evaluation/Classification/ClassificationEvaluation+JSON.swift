import Kelvin
import KelvinEvaluation
import KelvinVision

extension ClassificationEvaluation {
  public func details(of contender: Int) -> any Encodable & Sendable { Details(results[contender].scores, labels) }

  private struct Details: Encodable, Sendable {
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
      var images: Int
      var precision: Double?
      var recall: Double?
    }

    struct Bin: Encodable {
      var confidence: Double
      var share: Double?
      var images: Int
    }

    struct Confusion: Encodable {
      var label: String
      var answer: String
      var images: Int
    }

    var top1: Share
    var top5: Share
    var balancedAccuracy: Double?
    var calibrationError: Double?
    var classes: [Class]
    var calibration: [Bin]
    var confusions: [Confusion]

    init(_ scores: ClassificationScores, _ labels: [String]) {
      (top1, top5) = (Share(scores.top1), Share(scores.top5))
      (balancedAccuracy, calibrationError) = (scores.balancedAccuracy, scores.calibration.expectedError)
      classes = scores.classes.map {
        Class(
          label: labels[$0.label], images: $0.recall.trials, precision: $0.precision.share, recall: $0.recall.share)
      }
      calibration = scores.calibration.bins.map {
        Bin(confidence: $0.confidence, share: $0.right.share, images: $0.right.trials)
      }
      confusions = scores.confusions.map {
        Confusion(label: labels[$0.truth], answer: labels[$0.answer], images: $0.count)
      }
    }
  }
}
