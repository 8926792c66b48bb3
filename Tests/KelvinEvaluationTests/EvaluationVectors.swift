import FoundationEssentials
import KelvinEvaluation
import TestSupport

/// The results of pycocotools, scikit-learn, statsmodels and SciPy (`Tests/Vectors/Evaluation/generate.py`).
struct EvaluationVectors: Decodable {
  struct Image: Decodable {
    struct Truth: Decodable {
      var label: Int
      var box: [Double]
      var area: Double
      var crowd: Bool
    }
    struct Detection: Decodable {
      var label: Int
      var confidence: Double
      var box: [Double]
    }
    var truths: [Truth]
    var detections: [Detection]

    var evaluated: DetectedImage {
      func box(_ numbers: [Double]) -> EvaluatedBox {
        EvaluatedBox(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
      }
      return DetectedImage(
        detections: detections.map {
          DetectedImage.Detection(label: $0.label, confidence: $0.confidence, box: box($0.box))
        },
        truths: truths.map {
          DetectedImage.Truth(label: $0.label, box: box($0.box), area: $0.area, isCrowd: $0.crowd)
        })
    }
  }

  struct Detection: Decodable {
    var mean: Double
    var atHalf: Double
    var atThreeQuarters: Double
    var small: Double
    var medium: Double
    var large: Double
    var recall: Double
    var byClass: [String: Double]
  }

  struct Curve: Decodable {
    var precision: [Double]
    var recall: [Double]
    var thresholds: [Float]
  }

  struct Classification: Decodable {
    var truths: [Int]
    var scores: [[Float]]
    var top1: Double
    var top5: Double
    var balanced: Double
    var precision: [Double]
    var recall: [Double]
    var confusion: [[Int]]
    var curve: Curve

    var images: [ClassifiedImage] {
      zip(truths, scores).map { truth, scores in
        let order = scores.indices.sorted { scores[$0] > scores[$1] }
        return ClassifiedImage(
          truth: truth, answers: order.map { ClassifiedImage.Answer(label: $0, confidence: scores[$0]) })
      }
    }
  }

  struct Interval: Decodable {
    var hits: Int
    var trials: Int
    var interval: [Double]
  }

  struct McNemar: Decodable {
    var onlyFirst: Int
    var onlySecond: Int
    var probability: Double
  }

  var images: [Image]
  var detection: Detection
  var classification: Classification
  var proportions: [Interval]
  var mcnemar: [McNemar]

  static func read() throws -> EvaluationVectors {
    let path = "\(SharedFiles.projectRoot)/Tests/Vectors/Evaluation/evaluation.json"
    return try JSONDecoder().decode(EvaluationVectors.self, from: Data(contentsOf: URL(filePath: path)))
  }
}
