public import Kelvin
import KelvinBasics
import KelvinEvaluation
public import KelvinVision

extension ClassificationEvaluation {
  private static let (notedConfusions, shownConfusions) = (5, 12)

  public static var task: String { "classification" }
  public static var exampleName: String { "image" }
  public static var measures: [EvaluationMeasure] {
    [.share("Top-1"), .share("Top-5"), .share("Balanced"), .share("ECE", isBetterWhenLarger: false)]
  }

  public static func request(
    for model: Model, _ options: EvaluationOptions
  ) throws(VisionError) -> ClassificationRequest {
    var request = try ClassificationRequest(model: model, labels: options.labels, normalization: options.normalization)
    request.cropAndScaleAction = options.cropAndScale ?? request.cropAndScaleAction
    return request
  }

  public var subject: String {
    let count = results[0].scores.classes.count
    return "\(counted(examples.count)) of \(count) class\(count == 1 ? "" : "es")"
  }

  public var remarks: [String] {
    unknownLabels.map { unknown in
      LabelMatching.remark(on: unknown.labels, of: unknown.contender) + "images of these count as wrong"
    }
  }

  public func figures(of contender: Int) -> [Double?] {
    let scores = results[contender].scores
    return [scores.top1.share, scores.top5.share, scores.balancedAccuracy, scores.calibration.expectedError]
  }

  public func interval(of contender: Int) -> ClosedRange<Double>? { results[contender].scores.top1.interval }

  public func comparison(of contender: Int, with other: Int) -> EvaluationComparison {
    EvaluationComparison(Self.pairs(results[other], results[contender]))
  }

  public func notes(on contender: Int) -> [String] {
    let worst = results[contender].scores.confusions.prefix(Self.notedConfusions)
    guard !worst.isEmpty else { return [] }
    let names = worst.map {
      "\(labels[$0.truth]) as \(labels[$0.answer])\($0.count > 1 ? " (\($0.count))" : "")"
    }
    return ["\(results[contender].name) took \(names.joined(separator: "; "))"]
  }

  public func sections(on contender: Int) -> [EvaluationSection] {
    let scores = results[contender].scores
    let bins = scores.calibration.bins.compactMap { bin in
      bin.right.share.map { (confidence: bin.confidence, share: $0, count: bin.right.trials) }
    }
    let confusions = scores.confusions.prefix(Self.shownConfusions).map {
      [labels[$0.truth], labels[$0.answer], "\($0.count)"]
    }
    let share = EvaluationMeasure.share("")
    let classes = scores.classes.map {
      [labels[$0.label], "\($0.recall.trials)", share.text($0.precision.share), share.text($0.recall.share)]
    }
    return [
      .calibration(bins),
      .table(
        title: "Most frequent confusions", columns: ["Class", "taken for", "Images"],
        rows: confusions.isEmpty ? [["nothing", "anything else", "0"]] : confusions),
      .table(title: "Each class", columns: ["Class", "Images", "Precision", "Recall"], rows: classes),
    ]
  }

  /// Returns the wrong answers, the most confident first.
  public func mistakes(of contender: Int) -> [EvaluationMistake] {
    let images = results[contender].images
    func confidence(_ index: Int) -> Float { images[index].answers.first?.confidence ?? 0 }
    return images.indices.filter { !images[$0].isRight(among: 1) }
      .sorted { (confidence($1), $0) < (confidence($0), $1) }
      .map { index in
        EvaluationMistake(
          example: index, caption: "is \(labels[images[index].truth])",
          answers: images[index].answers.prefix(3).map {
            (labels[$0.label], HumanReadable.percent(Double($0.confidence), decimals: 0))
          })
      }
  }
}

extension ClassificationRequest: EvaluatedRequest {
  /// Classifies an image and discards the result.
  public func answer(_ question: DecodedImage) throws(VisionError) {
    _ = try classify(question.pixels, orientation: question.orientation)
  }
}
