import Kelvin
import KelvinBasics
public import KelvinEvaluation
public import KelvinVision
import Synchronization

/// An evaluation of one or several object detectors, by COCO's metrics.
public struct DetectionEvaluation: Evaluation {
  /// The detections and scores of one detector.
  public struct Result: Sendable {
    /// The contender's name.
    public let name: String
    /// The detections in each image that could be read, in the data set's order.
    public let images: [DetectedImage]
    /// The average precision for objects of any size.
    public let precision: AveragePrecision
    /// The average precision for objects of each size, averaged over the overlap thresholds.
    public let bySize: [AveragePrecision.Size: Double]
    /// The 95 % confidence interval of the mean average precision, from resampled images (``Bootstrap``).
    public let interval: ClosedRange<Double>?
    let matches: DetectionMatches
  }

  public let contenders: [EvaluationContender<DetectionRequest>]
  public let examples: [DetectedImages.Image]
  /// The names of the classes, by their indices in the results.
  public let labels: [String]
  /// The results, in the order of the contenders.
  public let results: [Result]
  public let faults: [EvaluationFault]
  public let remarks: [String]
  private let comparisons = ComparisonCache()

  /// The number of resamples. It is lower than the default because each resample computes precision over all classes
  /// and thresholds.
  private static let drawCount = 500

  /// Runs detectors on images. Each image is decoded once, and several images are processed concurrently.
  ///
  /// - Parameters:
  ///   - contenders: At least one; the others are compared with the first.
  ///   - dataset: Images with boxes.
  ///   - progress: Called with the number of finished images, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where no class of the data set is one of a contender's, or no image can
  ///   be read; `image` where no image can be decoded at all; `prediction` where a model fails.
  public init(
    of contenders: [EvaluationContender<DetectionRequest>], on dataset: DetectedImages,
    progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) {
    do throws(ImageError) { try ImageCodec.prepare() } catch { throw .image(error) }
    let places = Dictionary(dataset.names.exact.enumerated().map { ($1, $0) }) { first, _ in first }
    let answered = Mutex<[Set<ExactString>]>(contenders.map { Set(($0.request.labels ?? []).exact) })
    let run = try EvaluationRun<[RawDetection]>(Self.self, contenders, on: dataset, progress: progress) {
      (place, image, _) throws(VisionError) in
      let found = try contenders[place].request.detect(image.pixels, orientation: image.orientation)
      let raw = found.compactMap { RawDetection($0, on: image) }
      // A model without class names is matched by the labels that it produced.
      if contenders[place].request.labels == nil { answered.withLock { $0[place].formUnion(raw.map(\.label).exact) } }
      return raw
    }
    let examples = run.answered.map { dataset.examples[$0] }
    var (results, remarks): ([Result], [String]) = ([], [])
    for (place, contender) in contenders.enumerated() {
      let matching = LabelMatching(dataset.names, answers: answered.withLock { $0[place].sorted().map(\.string) })
      let missing = try matching.missing(of: contender.name)
      if !missing.isEmpty {
        remarks.append(LabelMatching.remark(on: missing, of: contender.name) + "their objects count as not found")
      }
      let images = zip(examples, run.outcomes[place]).map { example, found in
        DetectedImage(
          detections: found.compactMap { detection in
            matching.truth(of: detection.label).flatMap { places[ExactString($0)] }.map {
              DetectedImage.Detection(label: $0, confidence: detection.confidence, box: detection.box)
            }
          }, truths: example.truths)
      }
      let matches = DetectionMatches(images)
      let precision = matches.precision()
      results.append(
        Result(
          name: contender.name, images: images, precision: precision,
          bySize: Self.bySize(images, all: precision),
          interval: Bootstrap.interval(of: images.count, drawCount: Self.drawCount) {
            matches.precision(of: $0).mean
          },
          matches: matches))
    }
    (self.contenders, self.examples, self.results, self.remarks) = (contenders, examples, results, remarks)
    (labels, faults) = (dataset.names, run.faults)
  }

  private static func bySize(
    _ images: [DetectedImage], all: AveragePrecision
  ) -> [AveragePrecision.Size: Double] {
    var means: [AveragePrecision.Size: Double] = [:]
    for size in AveragePrecision.Size.allCases {
      means[size] = size == .any ? all.mean : AveragePrecision(images, size: size).mean
    }
    return means
  }

  public func comparison(of contender: Int, with other: Int) -> EvaluationComparison {
    comparisons.comparison(contender, other) {
      EvaluationComparison(of: examples.count, drawCount: Self.drawCount) {
        results[contender].matches.precision(of: $0).mean
      } against: {
        results[other].matches.precision(of: $0).mean
      }
    }
  }
}

/// A detection with the model's own label.
struct RawDetection: Sendable {
  let label: String
  let confidence: Double
  /// The box in pixels from the top left corner of the upright image.
  let box: EvaluatedBox

  /// Returns nil for an observation without a label of finite confidence.
  init?(_ observation: RecognizedObjectObservation, on image: DecodedImage) {
    guard let first = observation.labels.first, first.confidence.isFinite else { return nil }
    let box = observation.boundingBox.toImageCoordinates(
      ImageSize(width: image.width, height: image.height), origin: .upperLeft)
    (label, confidence) = (first.identifier, Double(first.confidence))
    self.box = EvaluatedBox(x: box.x, y: box.y, width: box.width, height: box.height)
  }
}
