#if Collections
import Kelvin
import KelvinBasics
public import KelvinEvaluation
import Synchronization

/// How well one or several models find what is on images, by COCO's rule.
public struct DetectionEvaluation: Evaluation {
  /// What one of them said.
  public struct Result: Sendable {
    /// The contender's.
    public let name: String
    /// Of each image that could be read, in the data set's order.
    public let images: [DetectedImage]
    /// How good that is, of objects of any size.
    public let precision: AveragePrecision
    /// The same of objects of one size, the mean over overlaps.
    public let bySize: [AveragePrecision.Size: Double]
    /// Of the mean average precision, with 95 % confidence: images are drawn again (``Bootstrap``).
    public let interval: ClosedRange<Double>?
    let matches: DetectionMatches
  }

  public let contenders: [EvaluationContender<DetectionRequest>]
  public let examples: [DetectedImages.Image]
  /// The classes' names, by their numbers in the results.
  public let labels: [String]
  /// In the order of the contenders.
  public let results: [Result]
  public let faults: [EvaluationFault]
  public let remarks: [String]
  private let comparisons = ComparisonCache()

  /// Sets of images that are drawn: each is a precision over classes and overlaps anew.
  private static let drawCount = 500

  /// Lets models see images, each of which is decoded once. Several are seen at a time.
  ///
  /// - Parameters:
  ///   - contenders: at least one; the others are compared with the first.
  ///   - dataset: images with boxes.
  ///   - progress: told how many images are done, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where no class of the data set is one of a contender's, or no image can be
  ///   read; `image` where none can be decoded at all; `prediction` where a model fails.
  public init(
    of contenders: [EvaluationContender<DetectionRequest>], on dataset: DetectedImages,
    progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) {
    do throws(ImageError) { try ImageFile.prepare() } catch { throw .image(error) }
    let places = Dictionary(dataset.names.enumerated().map { ($1, $0) }) { first, _ in first }
    let answered = Mutex<[Set<String>]>(contenders.map { Set($0.request.labels ?? []) })
    let run = try EvaluationRun<[RawDetection]>(Self.self, contenders, on: dataset, progress: progress) {
      (place, image, _) throws(VisionError) in
      let found = try contenders[place].request.detect(image.pixels, orientation: image.orientation)
      let raw = found.compactMap { RawDetection($0, on: image) }
      // Of a model that does not name its classes, those that it was ever heard to find.
      if contenders[place].request.labels == nil { answered.withLock { $0[place].formUnion(raw.map(\.label)) } }
      return raw
    }
    let examples = run.answered.map { dataset.examples[$0] }
    var (results, remarks): ([Result], [String]) = ([], [])
    for (place, contender) in contenders.enumerated() {
      let matching = LabelMatching(dataset.names, answers: answered.withLock { $0[place].sorted() })
      let missing = try matching.missing(of: contender.name)
      if !missing.isEmpty {
        remarks.append(LabelMatching.remark(on: missing, of: contender.name) + "their objects count as not found")
      }
      let images = zip(examples, run.outcomes[place]).map { example, found in
        DetectedImage(
          detections: found.compactMap { detection in
            matching.truth(of: detection.label).flatMap { places[$0] }.map {
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

/// Something that was found, by the model's own name.
struct RawDetection: Sendable {
  let label: String
  let confidence: Double
  /// In pixels from the left top of the upright image.
  let box: EvaluatedBox

  /// Nil for what has no class.
  init?(_ observation: RecognizedObjectObservation, on image: DecodedImage) {
    guard let first = observation.labels.first, first.confidence.isFinite else { return nil }
    let box = observation.boundingBox.toImageCoordinates(
      ImageSize(width: image.width, height: image.height), origin: .upperLeft)
    (label, confidence) = (first.identifier, Double(first.confidence))
    self.box = EvaluatedBox(x: box.x, y: box.y, width: box.width, height: box.height)
  }
}
#endif
