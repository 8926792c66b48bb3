import Kelvin
import KelvinBasics
import KelvinEvaluation
import KelvinVision

extension ClassificationEvaluation {
  public func details(of contender: Int) -> any Encodable & Sendable {
    let scores = results[contender].scores
    func share(_ proportion: Proportion) -> JSONObject {
      ["value": proportion.share, "interval": proportion.interval.ends]
    }
    return [
      "top1": share(scores.top1), "top5": share(scores.top5), "balancedAccuracy": scores.balancedAccuracy,
      "calibrationError": scores.calibration.expectedError,
      "classes": scores.classes.map { one -> JSONObject in
        [
          "label": labels[one.label], "images": one.recall.trials, "precision": one.precision.share,
          "recall": one.recall.share,
        ]
      },
      "calibration": scores.calibration.bins.map { bin -> JSONObject in
        ["confidence": bin.confidence, "share": bin.right.share, "images": bin.right.trials]
      },
      "confusions": scores.confusions.map { one -> JSONObject in
        ["label": labels[one.truth], "answer": labels[one.answer], "images": one.count]
      },
    ] as JSONObject
  }
}
