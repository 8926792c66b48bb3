import Kelvin
import KelvinBasics
public import KelvinEvaluation
public import KelvinVision
import Synchronization

/// An evaluation of one or several classifiers on the same labelled images.
public struct ClassificationEvaluation: Evaluation {
  /// The answers and scores of one classifier.
  public struct Result: Sendable {
    /// The contender's name.
    public let name: String
    /// The answers for each image that could be read, in the data set's order.
    public let images: [ClassifiedImage]
    /// The scores of the answers.
    public let scores: ClassificationScores
    /// The classifier's own label for each class of the data set, by class index.
    let names: [Int: String]
  }

  public let contenders: [EvaluationContender<ClassificationRequest>]
  /// The names of the classes, by their indices in the results.
  public let labels: [String]
  /// The images that could be read, in the data set's order.
  public let examples: [LabelledImages.Image]
  /// The results, in the order of the contenders.
  public let results: [Result]
  public let faults: [EvaluationFault]
  /// The classes of the data set that a contender has no label for. Its answers for images of these classes count as
  /// wrong.
  public let unknownLabels: [(contender: String, labels: [String])]

  /// The five most confident answers of an image are always kept. Up to 100 are kept where their confidence is at least
  /// 0.001.
  private static let (surest, mostAnswers, leastConfidence) = (5, 100, Float(0.001))

  /// Runs classifiers on images. Each image is decoded once, and several images are processed concurrently.
  ///
  /// - Parameters:
  ///   - contenders: At least one; the others are compared with the first.
  ///   - dataset: Images with their classes.
  ///   - progress: Called with the number of finished images, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where no class of the data set is one of a contender's, or no image can
  ///   be read; `image` where no image can be decoded at all; `prediction` where a model fails.
  public init(
    of contenders: [EvaluationContender<ClassificationRequest>], on dataset: LabelledImages,
    progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) {
    do throws(ImageError) { try ImageCodec.prepare() } catch { throw .image(error) }
    let known = Mutex<[Int: [String]]>([:])
    let run = try EvaluationRun<[ClassificationObservation]>(Self.self, contenders, on: dataset, progress: progress) {
      (place, image, _) throws(VisionError) in
      let all = try contenders[place].request.classify(image.pixels, orientation: image.orientation)
      known.withLock { if $0[place] == nil { $0[place] = all.map(\.identifier) } }
      return Self.believed(all)
    }
    try self.init(contenders, dataset, run, known: known.withLock { $0 })
  }

  private static func believed(_ observations: [ClassificationObservation]) -> [ClassificationObservation] {
    observations.prefix(mostAnswers).enumerated()
      .filter { $0 < surest || $1.confidence >= leastConfidence }.map(\.element)
  }

  /// - Parameter known: Each contender's labels, by the contender's index.
  private init(
    _ contenders: [EvaluationContender<ClassificationRequest>], _ dataset: LabelledImages,
    _ run: EvaluationRun<[ClassificationObservation]>, known: [Int: [String]]
  ) throws(VisionError) {
    let examples = run.answered.map { dataset.images[$0] }
    let truths = Set(examples.map(\.label).exact).sorted().map(\.string)
    var labels = LabelNumbers(truths)
    var (results, unknown): ([Result], [(contender: String, labels: [String])]) = ([], [])
    for (place, contender) in contenders.enumerated() {
      let names = LabelMatching(truths, answers: known[place] ?? [])
      let missing = try names.missing(of: contender.name)
      if !missing.isEmpty { unknown.append((contender.name, missing)) }
      let images = zip(examples, run.outcomes[place]).map { example, observations in
        ClassifiedImage(
          truth: labels.number(of: example.label),
          answers: observations.map {
            ClassifiedImage.Answer(
              label: labels.number(of: names.truth(of: $0.identifier) ?? $0.identifier), confidence: $0.confidence)
          })
      }
      let own = truths.compactMap { truth in names.answer(for: truth).map { (labels.number(of: truth), $0) } }
      results.append(
        Result(
          name: contender.name, images: images, scores: ClassificationScores(images),
          names: Dictionary(own) { first, _ in first }))
    }
    (self.contenders, self.examples, self.labels, faults) = (contenders, examples, labels.names, run.faults)
    (self.results, unknownLabels) = (results, unknown)
  }

  /// Compares the top answers of a result and of the first result, image by image.
  public func comparison(of result: Result) -> PairedProportions { Self.pairs(results[0], result) }

  static func pairs(_ first: Result, _ second: Result) -> PairedProportions {
    var pairs = PairedProportions()
    for (first, second) in zip(first.images, second.images) {
      pairs.add(first: first.isRight(among: 1), second: second.isRight(among: 1))
    }
    return pairs
  }
}

/// Consecutive indices for names, in the order of first use.
private struct LabelNumbers {
  private(set) var names: [String] = []
  private var numbers: [ExactString: Int] = [:]

  init(_ names: [String]) {
    for name in names { _ = number(of: name) }
  }

  mutating func number(of name: String) -> Int {
    if let number = numbers[ExactString(name)] { return number }
    numbers[ExactString(name)] = names.count
    names.append(name)
    return names.count - 1
  }
}
