public import FoundationEssentials
public import Kelvin
public import KelvinVision

/// An evaluation of models at one job: the answers of several models to the same examples, and scores of these answers.
///
/// The types are ``ClassificationEvaluation``, ``SegmentationEvaluation``, ``DetectionEvaluation`` and
/// ``RegressionEvaluation``. Text, document, page and verdict are implemented once for all types.
///
/// ```swift
/// let contenders = [EvaluationContender(name: "A", request: a), EvaluationContender(name: "B", request: b)]
/// let evaluation = try ClassificationEvaluation(of: contenders, on: images)
/// print(evaluation.text(costs: costs))
/// ```
public protocol Evaluation: Sendable {
  /// The type of request that runs a model on an example.
  associatedtype Request: EvaluatedRequest
  /// The type of data set, whose correct answers are known.
  associatedtype Dataset: EvaluationDataset

  /// The name of the job: `classification`.
  static var task: String { get }
  /// The noun for one example: `image`.
  static var exampleName: String { get }
  /// The measures that are computed for each contender. Contenders are compared by the first.
  static var measures: [EvaluationMeasure] { get }

  /// Creates the request that runs a model.
  ///
  /// - Throws: `VisionError` where the model does not do the job.
  static func request(for model: Model, _ options: EvaluationOptions) throws(VisionError) -> Request
  /// Reads and decodes an example's inputs.
  ///
  /// - Throws: `VisionError.image` for an image that cannot be read.
  static func question(of example: Dataset.Example) throws(VisionError) -> Request.Question

  /// Runs the contenders on a data set. Each example is read once, and several examples are processed concurrently.
  ///
  /// - Parameters:
  ///   - contenders: At least one; the others are compared with the first.
  ///   - dataset: The examples with their correct answers.
  ///   - progress: Called with the number of finished examples, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where nothing can be compared; `image` where no image can be decoded at
  ///   all; `prediction` where a model fails.
  init(
    of contenders: [EvaluationContender<Request>], on dataset: Dataset, progress: @Sendable (Int) -> Void
  ) throws(VisionError)

  /// The contenders, in the order of the results.
  var contenders: [EvaluationContender<Request>] { get }
  /// The examples that were answered, in the data set's order.
  var examples: [Dataset.Example] { get }
  /// A description of the data that was evaluated: `120 images of 4 classes`.
  var subject: String { get }
  /// The examples that could not be read.
  var faults: [EvaluationFault] { get }
  /// Remarks about mismatches between the data set and the contenders.
  var remarks: [String] { get }

  /// Returns a contender's figures in the order of ``measures``; nil for a figure that the examples do not determine.
  func figures(of contender: Int) -> [Double?]
  /// Returns the 95 % confidence interval of the first measure; nil where there are too few examples.
  func interval(of contender: Int) -> ClosedRange<Double>?
  /// Compares a contender's first measure with another's, example by example.
  func comparison(of contender: Int, with other: Int) -> EvaluationComparison
  /// Returns remarks about a contender beyond its figures, each a sentence for people.
  func notes(on contender: Int) -> [String]
  /// Returns the detailed sections about a contender for a page.
  func sections(on contender: Int) -> [EvaluationSection]
  /// Returns the examples that the contender does worst at, the worst first.
  func mistakes(of contender: Int) -> [EvaluationMistake]
  /// Returns the image of an example, annotated with a contender's answer where the job has one to draw; nil for an
  /// example without an image.
  ///
  /// - Throws: `VisionError` where the example can no longer be read or answered.
  func image(of example: Int, by contender: Int) throws(VisionError) -> PixelBuffer?
  /// Returns all results of a contender for programs: a value that encodes as an object whose keys are merged with
  /// those that all jobs share.
  func details(of contender: Int) -> any Encodable & Sendable
}

extension Evaluation {
  /// The contenders' names, in their order.
  public var names: [String] { contenders.map(\.name) }

  /// Returns a contender's figure of the first measure; nil where the examples do not determine it.
  public func quality(of contender: Int) -> Double? { figures(of: contender).first ?? nil }

  static var decisive: EvaluationMeasure { measures[0] }
}

/// A request that runs a model on examples.
public protocol EvaluatedRequest: Sendable {
  /// The type of a decoded example.
  associatedtype Question: Sendable
  /// The model that the request runs.
  var model: Model { get }
  /// Remarks about the answers.
  var remarks: [String] { get }
  /// Answers a question and discards the answer; used for timing. Blocks the calling thread.
  ///
  /// - Throws: `VisionError.prediction` where the model fails.
  func answer(_ question: Question) throws(VisionError)
}

/// Examples whose correct answers are known.
public protocol EvaluationDataset: Sendable {
  /// The type of an example with its correct answer.
  associatedtype Example: EvaluationExample
  /// Reads a data set.
  ///
  /// - Throws: `VisionError.invalidRequest` where there is no valid data set; it says what was expected.
  init(contentsOf url: URL) throws(VisionError)
  /// The examples in the data set's order.
  var examples: [Example] { get }
  /// Remarks about examples that were left out.
  var remarks: [String] { get }
}

/// One example of a data set.
public protocol EvaluationExample: Sendable {
  /// The example's name: an image's path.
  var name: String { get }
  /// The folder in which a data set found the example's files. No link below it is followed. Nil if the user or a
  /// document of theirs names the files.
  var folder: String? { get }
}

extension EvaluationExample {
  /// No folder.
  public var folder: String? { nil }
}

/// A model to evaluate, with its display name.
public struct EvaluationContender<Request: EvaluatedRequest>: Sendable {
  /// The name in results.
  public var name: String
  /// The request that runs the model.
  public var request: Request

  /// Creates a contender from a display name and a request.
  public init(name: String, request: Request) { (self.name, self.request) = (name, request) }
}

/// Options for running models, whatever the job.
public struct EvaluationOptions: Sendable {
  /// The classes' names, in place of the model's own.
  public var labels: [String]?
  /// The normalization of pixels for a model whose input is a plain tensor.
  public var normalization: PixelNormalization?
  /// The method that fits an image to the model's input size; the request's default where nil.
  public var cropAndScale: ImageCropAndScale?
  /// The layout of a detector's outputs, for a model that does not declare it.
  public var head: DetectionHead?
  /// The name of the evaluated output; may be nil where only one output is suitable.
  public var output: String?

  /// Creates options that leave every choice to the model.
  public init() {}
}

/// An example that could not be read, with the reason.
public struct EvaluationFault: Hashable, Sendable {
  /// The example's name.
  public var name: String
  /// The reason.
  public var reason: String
}
