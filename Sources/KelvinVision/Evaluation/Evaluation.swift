#if Collections
public import FoundationEssentials
public import Kelvin

/// A job that models do, held to what is right: what each of several models said of the same examples, and how good that is.
///
/// Those that there are: ``ClassificationEvaluation``, ``SegmentationEvaluation``, ``DetectionEvaluation`` and
/// ``RegressionEvaluation``. Text, document, page and verdict are the same for all and know none of them.
///
/// ```swift
/// let evaluation = try ClassificationEvaluation(of: [.init(name: "A", request: a), .init(name: "B", request: b)], on: images)
/// print(evaluation.text(costs: costs))
/// ```
public protocol Evaluation: Sendable {
  /// What examples are asked with.
  associatedtype Request: EvaluatedRequest
  /// Examples whose answers are known.
  associatedtype Dataset: EvaluationDataset

  /// What the job is called: `classification`.
  static var task: String { get }
  /// What one example is called: `image`.
  static var exampleName: String { get }
  /// What is reckoned of each contender; the first is what they are compared by.
  static var measures: [EvaluationMeasure] { get }

  /// How a model is asked.
  ///
  /// - Throws: `VisionError` where the model does not do the job.
  static func request(for model: Model, _ options: EvaluationOptions) throws(VisionError) -> Request
  /// Reads what contenders are asked about an example.
  ///
  /// - Throws: `VisionError.image` where it cannot be read.
  static func question(of example: Dataset.Example) throws(VisionError) -> Request.Question

  /// Lets contenders answer. Each example is read once, and several are at work at a time.
  ///
  /// - Parameters:
  ///   - contenders: at least one; the others are compared with the first.
  ///   - dataset: what is asked, and what is right.
  ///   - progress: told how many examples are done, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where nothing can be compared; `image` where no image can be decoded at all;
  ///   `prediction` where a model fails.
  init(
    of contenders: [EvaluationContender<Request>], on dataset: Dataset, progress: @Sendable (Int) -> Void
  ) throws(VisionError)

  /// In the order of results.
  var contenders: [EvaluationContender<Request>] { get }
  /// Those that were answered, in the data set's order.
  var examples: [Dataset.Example] { get }
  /// What was judged, in words: `120 images of 4 classes`.
  var subject: String { get }
  /// Examples that could not be read.
  var faults: [EvaluationFault] { get }
  /// What to know of how data set and contenders fit one another.
  var remarks: [String] { get }

  /// What was reckoned of a contender, in the order of ``measures``; nil for what there is nothing to reckon from.
  func figures(of contender: Int) -> [Double?]
  /// Of the first measure, with 95 % confidence; nil where too few examples tell.
  func interval(of contender: Int) -> ClosedRange<Double>?
  /// How a contender's first measure differs from another's, example by example.
  func comparison(of contender: Int, with other: Int) -> EvaluationComparison
  /// What a person wants to know of a contender besides its figures, in sentences.
  func notes(on contender: Int) -> [String]
  /// The same at length, for a page.
  func sections(on contender: Int) -> [EvaluationSection]
  /// Examples that the contender does worst at, the worst first.
  func mistakes(of contender: Int) -> [EvaluationMistake]
  /// An example as a contender answered it, to be looked at; nil where there is nothing to see.
  ///
  /// - Throws: `VisionError` where it cannot be read or answered any more.
  func image(of example: Int, by contender: Int) throws(VisionError) -> PixelBuffer?
  /// All that was reckoned of a contender, for programs: an object, whose keys stand beside those that all jobs share.
  func details(of contender: Int) -> any Encodable & Sendable
}

extension Evaluation {
  /// The contenders' names.
  public var names: [String] { contenders.map(\.name) }

  /// Of the first measure.
  public func quality(of contender: Int) -> Double? { figures(of: contender).first ?? nil }

  static var decisive: EvaluationMeasure { measures[0] }
}

/// Something that examples are asked with, and the model behind it.
public protocol EvaluatedRequest: Sendable {
  /// What it is asked about, read and ready.
  associatedtype Question: Sendable
  /// The model that is run.
  var model: Model { get }
  /// What to know of its answers.
  var remarks: [String] { get }
  /// Answers, and forgets the answer: what is timed. Blocks the calling thread.
  ///
  /// - Throws: `VisionError.prediction` where the model fails.
  func answer(_ question: Question) throws(VisionError)
}

/// Examples whose answers are known.
public protocol EvaluationDataset: Sendable {
  /// One of them, with its answer.
  associatedtype Example: EvaluationExample
  /// Reads a data set.
  ///
  /// - Throws: `VisionError.invalidRequest` where there is none, with what was expected.
  init(contentsOf url: URL) throws(VisionError)
  /// In the order of the data set.
  var examples: [Example] { get }
  /// What is said of what was left out.
  var remarks: [String] { get }
}

/// One of the examples of a data set.
public protocol EvaluationExample: Sendable {
  /// What it is called: an image's path.
  var name: String { get }
}

/// A model that is asked, by the name under which it is shown.
public struct EvaluationContender<Request: EvaluatedRequest>: Sendable {
  /// What results call it.
  public var name: String
  /// What it is asked with.
  public var request: Request

  /// A model by a name.
  public init(name: String, request: Request) { (self.name, self.request) = (name, request) }
}

/// How models are asked, whatever the job.
public struct EvaluationOptions: Sendable {
  /// The classes' names, in place of the model's own.
  public var labels: [String]?
  /// How pixels enter a model whose input is a plain tensor.
  public var normalization: PixelNormalization?
  /// How an image is brought to the model's size; as the request has it where nil.
  public var cropAndScale: ImageCropAndScale?
  /// How a detector's outputs become boxes, where the model does not say.
  public var head: DetectionHead?
  /// The output that is judged; the only one that can be meant where nil.
  public var output: String?

  /// As the models say themselves.
  public init() {}
}

/// An example that could not be read, and why.
public struct EvaluationFault: Hashable, Sendable {
  /// The example.
  public var name: String
  /// Why.
  public var reason: String
}
#endif
