public import Kelvin
import KelvinBasics
import KelvinEvaluation
public import KelvinVision

extension DetectionEvaluation {
  public static var task: String { "detection" }
  public static var exampleName: String { "image" }
  public static var measures: [EvaluationMeasure] {
    ["AP", "AP50", "AP75", "AR", "AP S", "AP M", "AP L"].map { .share($0) }
  }

  public static func request(
    for model: Model, _ options: EvaluationOptions
  ) throws(VisionError) -> DetectionRequest {
    var request = try DetectionRequest(
      model: model, head: options.head, labels: options.labels, normalization: options.normalization)
    request.cropAndScaleAction = options.cropAndScale ?? request.cropAndScaleAction
    // A precision-recall curve needs detections of low confidence too.
    request.minimumConfidence = leastConfidence
    request.maximumObservationCount = nil
    return request
  }

  private static var leastConfidence: Float { 0.001 }

  /// Returns the image with the contender's detections drawn on it.
  public func image(of example: Int, by contender: Int) throws(VisionError) -> PixelBuffer? {
    let image = try Self.question(of: examples[example])
    var request = contenders[contender].request
    request.minimumConfidence = Self.shownConfidence
    let found = try request.detect(image.pixels, orientation: image.orientation)
    return try image.pixels.drawing(found, orientation: image.orientation, labels: request.labels ?? [])
  }

  private static var shownConfidence: Float { 0.3 }

  public var subject: String {
    let truths = examples.flatMap(\.truths).filter { !$0.isCrowd }
    let classes = Set(truths.map(\.label)).count
    return "\(counted(examples.count)) with \(truths.count) object\(truths.count == 1 ? "" : "s") of "
      + "\(classes) class\(classes == 1 ? "" : "es")"
  }

  public func figures(of contender: Int) -> [Double?] {
    let (result, precision) = (results[contender], results[contender].precision)
    return [
      precision.mean, precision.atHalf, precision.atThreeQuarters, precision.recall, result.bySize[.small],
      result.bySize[.medium], result.bySize[.large],
    ]
  }

  public func interval(of contender: Int) -> ClosedRange<Double>? { results[contender].interval }

  private func byClass(of contender: Int) -> [(label: Int, share: Double)] {
    results[contender].precision.byClass.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  public func notes(on contender: Int) -> [String] {
    noteOnWorst(byClass(of: contender).map { (labels[$0.label], $0.share) }, of: contender)
  }

  public func sections(on contender: Int) -> [EvaluationSection] {
    let truths = examples.flatMap(\.truths).filter { !$0.isCrowd }
    let rows = byClass(of: contender).map { label, share in
      [labels[label], "\(truths.count { $0.label == label })", HumanReadable.percent(share)]
    }
    return [.table(title: "Each class", columns: ["Class", "Objects", "AP"], rows: rows)]
  }

  /// Returns the images with errors, sorted by the number of missed objects, then by the number of wrong detections.
  public func mistakes(of contender: Int) -> [EvaluationMistake] {
    let found = results[contender].matches.atHalf(from: Double(Self.shownConfidence))
    let order = found.indices.filter { found[$0].missed + found[$0].wrong > 0 }
      .sorted { (found[$1].missed, found[$1].wrong, $0) < (found[$0].missed, found[$0].wrong, $1) }
    return order.map { index in
      let one = found[index]
      return EvaluationMistake(
        example: index, caption: "\(one.missed) of \(one.missed + one.right) missed, \(one.wrong) wrong",
        answers: results[contender].images[index].detections.sorted { $0.confidence > $1.confidence }.prefix(3).map {
          (labels[$0.label], HumanReadable.percent($0.confidence, decimals: 0))
        })
    }
  }

  public func details(of contender: Int) -> any Encodable & Sendable {
    let (result, precision) = (results[contender], results[contender].precision)
    return [
      "averagePrecision": precision.mean, "interval": result.interval?.ends, "atHalf": precision.atHalf,
      "atThreeQuarters": precision.atThreeQuarters, "averageRecall": precision.recall,
      "small": result.bySize[.small], "medium": result.bySize[.medium], "large": result.bySize[.large],
      "classes": byClass(of: contender).map { one -> JSONObject in
        ["label": labels[one.label], "averagePrecision": one.share]
      },
    ] as JSONObject
  }
}

extension DetectionRequest: EvaluatedRequest {
  /// Detects objects in an image and discards the result.
  public func answer(_ question: DecodedImage) throws(VisionError) {
    _ = try detect(question.pixels, orientation: question.orientation)
  }
}
