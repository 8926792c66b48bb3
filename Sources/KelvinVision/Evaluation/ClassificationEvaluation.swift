import Dispatch
import Kelvin
import KelvinBasics
public import KelvinEvaluation
import KelvinSteps
import Synchronization

/// What one or several classifiers say of the same labelled pictures.
public struct ClassificationEvaluation: Sendable {
  /// A classifier by the name under which it is shown.
  public struct Contender: Sendable {
    /// What results call it.
    public var name: String
    /// What is asked of each picture.
    public var request: ClassificationRequest

    /// A classifier by a name.
    public init(name: String, request: ClassificationRequest) { (self.name, self.request) = (name, request) }
  }

  /// What one of them said.
  public struct Result: Sendable {
    /// The contender's.
    public let name: String
    /// Of each picture that could be read, in the data set's order.
    public let pictures: [ClassifiedPicture]
    /// How good that is.
    public let scores: ClassificationScores
    /// The classifier's own labels of the data set's classes, by their numbers, where it has other names for them.
    let names: [Int: String]
  }

  /// The names of the classes, by their numbers in the results.
  public let labels: [String]
  /// Pictures that could be read, in the data set's order.
  public let pictures: [LabelledPictures.Picture]
  /// In the order of the contenders.
  public let results: [Result]
  /// Pictures that could not be read, with why.
  public let faults: [(path: String, reason: String)]
  /// Classes of the data set that a contender has no answer for; its pictures of them are counted as wrong.
  public let unknownLabels: [(contender: String, labels: [String])]

  /// Answers that are kept of a picture: the surest, and of those beyond the first five what is believed at all.
  private static let (surest, mostAnswers, leastConfidence) = (5, 100, Float(0.001))

  /// Lets classifiers see pictures, each of which is decoded once. Several are seen at a time.
  ///
  /// - Parameters:
  ///   - contenders: at least one; the others are compared with the first.
  ///   - dataset: pictures whose classes are known, by labels.
  ///   - progress: told how many pictures are done, from any thread.
  /// - Throws: `VisionError`: `invalidRequest` where no class of the data set is one of a contender's, or no picture can be
  ///   read; `image` where none can be decoded at all; `prediction` where a model fails.
  public init(
    of contenders: [Contender], on dataset: LabelledPictures, progress: @Sendable (Int) -> Void = { _ in }
  ) throws(VisionError) {
    do throws(ImageError) { try ImageFile.prepare() } catch { throw .image(error) }
    let budget = WorkBudget.current
    let seen = Mutex(Seen())
    let files = dataset.pictures
    DispatchQueue.concurrentPerform(iterations: files.count) { index in
      guard seen.withLock({ $0.failure == nil }) else { return }
      let outcome = WorkBudget.governing(budget) { Self.see(files[index].path, contenders) }
      progress(seen.withLock { $0.add(outcome, of: index) })
    }
    let all = seen.withLock { $0 }
    if let failure = all.failure { throw failure }
    try self.init(contenders, files, all)
  }

  private enum Outcome {
    /// Of each contender, the surest first.
    case answers([[ClassificationObservation]])
    case unreadable(String)
    /// What keeps all pictures from being seen.
    case failure(VisionError)
  }

  /// What was seen so far.
  private struct Seen {
    /// Of each contender, by the pictures' numbers; what is hardly believed is left out.
    var answers: [Int: [[ClassificationObservation]]] = [:]
    var faults: [Int: String] = [:]
    /// Each contender's labels.
    var labels: [[String]] = []
    var failure: VisionError?

    /// - Returns: how many pictures are done.
    mutating func add(_ outcome: Outcome, of index: Int) -> Int {
      switch outcome {
      case .answers(let all):
        if labels.isEmpty { labels = all.map { $0.map(\.identifier) } }
        answers[index] = all.map(Self.believed)
      case .unreadable(let reason): faults[index] = reason
      case .failure(let error): failure = error
      }
      return answers.count + faults.count
    }

    private static func believed(_ observations: [ClassificationObservation]) -> [ClassificationObservation] {
      observations.prefix(mostAnswers).enumerated()
        .filter { $0 < surest || $1.confidence >= leastConfidence }.map(\.element)
    }
  }

  private static func see(_ path: String, _ contenders: [Contender]) -> Outcome {
    let picture: DecodedImage
    do throws(ImageError) { picture = try ImageFile.decode(path: path) } catch {
      return error.code == .decoderMissing ? .failure(.image(error)) : .unreadable(error.reason)
    }
    var answers: [[ClassificationObservation]] = []
    for contender in contenders {
      do throws(VisionError) {
        answers.append(try contender.request.classify(picture.pixels, orientation: picture.orientation))
      } catch { return .failure(error) }
    }
    return .answers(answers)
  }

  private init(
    _ contenders: [Contender], _ files: [LabelledPictures.Picture], _ seen: Seen
  ) throws(VisionError) {
    let read = files.indices.filter { seen.answers[$0] != nil }
    let faults = files.indices.compactMap { index in seen.faults[index].map { (path: files[index].path, reason: $0) } }
    guard !read.isEmpty else {
      throw .invalidRequest("none of the \(files.count) pictures can be read: \(faults.first?.reason ?? "")")
    }
    let truths = Set(read.map { files[$0].label }).sorted()
    var labels = LabelNumbers(truths)
    var (results, unknown): ([Result], [(contender: String, labels: [String])]) = ([], [])
    for (place, contender) in contenders.enumerated() {
      let names = LabelMatching(truths, answers: seen.labels[place])
      let missing = truths.filter { names.answer(for: $0) == nil }
      guard missing.count < truths.count else {
        let known = seen.labels[place].prefix(3).map { "'\($0)'" }.joined(separator: ", ")
        throw .invalidRequest(
          "none of the data set's \(truths.count) classes ('\(truths[0])', …) is one of \(contender.name)'s (\(known), …); "
            + "--labels names its classes")
      }
      if !missing.isEmpty { unknown.append((contender.name, missing)) }
      let pictures = read.map { index in
        ClassifiedPicture(
          truth: labels.number(of: files[index].label),
          answers: (seen.answers[index]?[place] ?? []).map {
            ClassifiedPicture.Answer(
              label: labels.number(of: names.truth(of: $0.identifier) ?? $0.identifier), confidence: $0.confidence)
          })
      }
      let own = truths.compactMap { truth in names.answer(for: truth).map { (labels.number(of: truth), $0) } }
      results.append(
        Result(
          name: contender.name, pictures: pictures, scores: ClassificationScores(pictures),
          names: Dictionary(own) { first, _ in first }))
    }
    (self.labels, pictures, self.faults) = (labels.names, read.map { files[$0] }, faults)
    (self.results, unknownLabels) = (results, unknown)
  }

  /// How the top answers of one result and of the first compare, picture by picture.
  public func comparison(of result: Result) -> PairedProportions {
    var pairs = PairedProportions()
    for (first, second) in zip(results[0].pictures, result.pictures) {
      pairs.add(first: first.isRight(among: 1), second: second.isRight(among: 1))
    }
    return pairs
  }
}

/// Numbers for names, as they are met.
private struct LabelNumbers {
  private(set) var names: [String] = []
  private var numbers: [String: Int] = [:]

  init(_ names: [String]) {
    for name in names { _ = number(of: name) }
  }

  mutating func number(of name: String) -> Int {
    if let number = numbers[name] { return number }
    numbers[name] = names.count
    names.append(name)
    return names.count - 1
  }
}
