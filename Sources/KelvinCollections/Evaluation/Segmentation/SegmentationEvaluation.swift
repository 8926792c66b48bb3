import Kelvin
import KelvinBasics
public import KelvinEvaluation
public import KelvinVision

/// An evaluation of the label maps of one or several segmentation models.
public struct SegmentationEvaluation: Evaluation {
  /// The answers and scores of one model.
  public struct Result: Sendable {
    /// The contender's name.
    public let name: String
    /// The pixel counts of each image that could be read, in the data set's order.
    public let images: [SegmentedImage]
    /// The scores over all pixels.
    public let scores: SegmentationScores
    /// The 95 % confidence interval of the mean intersection over union, from resampled images (``Bootstrap``).
    public let interval: ClosedRange<Double>?
    let overlaps: OverlapCounts
  }

  public let contenders: [EvaluationContender<SegmentationRequest>]
  public let examples: [SegmentedImages.Image]
  /// The names of the classes, by their indices in the results.
  public let labels: [String]
  /// The results, in the order of the contenders.
  public let results: [Result]
  public let faults: [EvaluationFault]
  public let remarks: [String]
  private let comparisons = ComparisonCache()

  /// Runs segmentation models on images. Each image is decoded once, and several images are processed concurrently.
  ///
  /// - Parameters:
  ///   - contenders: At least one; the others are compared with the first.
  ///   - dataset: Images with their label maps.
  ///   - progress: Called with the number of finished images, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where no class of the data set is one of a contender's, or no image can
  ///   be read; `image` where no image can be decoded at all; `prediction` where a model fails.
  public init(
    of contenders: [EvaluationContender<SegmentationRequest>], on dataset: SegmentedImages,
    progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) {
    do throws(ImageError) { try ImageCodec.prepare() } catch { throw .image(error) }
    var remarks: [String] = []
    var translations: [[UInt8]] = []
    for contender in contenders {
      let translation = try ClassTranslation(to: dataset.names, from: contender.request.labels, of: contender.name)
      remarks += translation.remarks
      translations.append(translation.numbers)
    }
    let known = translations
    let run = try EvaluationRun<SegmentedImage>(Self.self, contenders, on: dataset, progress: progress) {
      (place, question, _) throws(VisionError) in
      let image = question.image
      let observation = try contenders[place].request.segment(image.pixels, orientation: image.orientation)
      return SegmentedImage(truth: question.truth, answer: observation.labelMap.map { known[place][Int($0)] })
    }
    let largest =
      run.outcomes.joined().flatMap { $0.counts.keys.flatMap { [$0.truth, $0.answer] } }
      .filter { $0 < SegmentedImage.noClass }.max() ?? 0
    let count = dataset.names?.count ?? Int(largest) + 1
    labels = (0..<count).map { dataset.names?[$0] ?? contenders[0].request.label($0) }
    results = zip(contenders, run.outcomes).map { contender, images in
      let overlaps = OverlapCounts(images, classCount: count)
      return Result(
        name: contender.name, images: images, scores: SegmentationScores(images, classCount: count),
        interval: Bootstrap.interval(of: images.count, overlaps.meanIntersectionOverUnion), overlaps: overlaps)
    }
    (self.contenders, self.remarks) = (contenders, remarks)
    (examples, faults) = (run.answered.map { dataset.examples[$0] }, run.faults)
  }

  public func comparison(of contender: Int, with other: Int) -> EvaluationComparison {
    comparisons.comparison(contender, other) {
      EvaluationComparison(
        of: examples.count, results[contender].overlaps.meanIntersectionOverUnion,
        against: results[other].overlaps.meanIntersectionOverUnion)
    }
  }
}

/// A mapping from a model's classes to the data set's.
struct ClassTranslation {
  /// The data set's class for each class of the model; `noClass` for a class that the data set does not have.
  var numbers: [UInt8] = (0...255).map { min(UInt8($0), SegmentedImage.noClass) }
  var remarks: [String] = []

  /// Creates a mapping.
  ///
  /// - Parameters:
  ///   - names: The names of the data set's classes; nil where the data set uses the model's own indices.
  ///   - labels: The names of the model's classes; empty where they have none.
  ///   - contender: The model's name in remarks and errors.
  /// - Throws: `VisionError.invalidRequest` where the model has no class of the data set.
  init(to names: [String]?, from labels: [String], of contender: String) throws(VisionError) {
    guard let names else { return }
    guard !labels.isEmpty else {
      remarks = ["\(contender) does not name its classes: they are matched to the data set's classes by number"]
      return
    }
    let matching = LabelMatching(names, answers: labels)
    let missing = try matching.missing(of: contender)
    let places = Dictionary(names.exact.enumerated().map { ($1, $0) }) { first, _ in first }
    numbers = (0...255).map { number in
      guard number < labels.count, let name = matching.truth(of: labels[number]),
        let place = places[ExactString(name)]
      else { return SegmentedImage.noClass }
      return UInt8(place)
    }
    if !missing.isEmpty {
      remarks = [LabelMatching.remark(on: missing, of: contender) + "their pixels count as wrong"]
    }
  }
}
