import Dispatch
public import Kelvin
import KelvinBasics
public import KelvinVision
import Synchronization

/// The answers of all contenders to the examples of a data set. Each example is read once.
struct EvaluationRun<Outcome: Sendable> {
  /// The indices in the data set of the answered examples, in ascending order.
  let answered: [Int]
  /// The outcomes of each contender for the answered examples.
  let outcomes: [[Outcome]]
  let faults: [EvaluationFault]

  private struct Seen {
    var outcomes: [Int: [Outcome]] = [:]
    var faults: [Int: String] = [:]
    /// An error that stops the whole run.
    var failure: VisionError?
  }

  /// Runs all contenders on the examples, several of which are processed concurrently.
  ///
  /// - Parameter outcome: Returns the outcome to keep. Its arguments are the contender's index, the decoded question
  ///   and the example.
  /// - Throws: Errors of `outcome` and of reading; `invalidRequest` where no example can be read.
  init<Job: Evaluation>(
    _ job: Job.Type, _ contenders: [EvaluationContender<Job.Request>], on dataset: Job.Dataset,
    progress: @Sendable (Int) -> Void,
    outcome: @Sendable (Int, Job.Request.Question, Job.Dataset.Example) throws(VisionError) -> Outcome
  ) throws(VisionError) {
    precondition(!contenders.isEmpty, "an evaluation needs at least one candidate")
    let examples = dataset.examples
    let budget = WorkBudget.current
    let seen = Mutex(Seen())
    DispatchQueue.concurrentPerform(iterations: examples.count) { index in
      guard seen.withLock({ $0.failure == nil }) else { return }
      let result = WorkBudget.governing(budget) {
        Result { () throws(VisionError) in try Self.outcomes(job, contenders, examples[index], outcome) }
      }
      let done = seen.withLock { seen in
        switch result {
        case .success(.success(let outcomes)): seen.outcomes[index] = outcomes
        case .success(.failure(let fault)): seen.faults[index] = fault.reason
        case .failure(let failure): seen.failure = failure
        }
        return seen.outcomes.count + seen.faults.count
      }
      progress(done)
    }
    let all = seen.withLock { $0 }
    if let failure = all.failure { throw failure }
    let answered = examples.indices.filter { all.outcomes[$0] != nil }
    faults = examples.indices.compactMap { index in
      all.faults[index].map { EvaluationFault(name: examples[index].name, reason: $0) }
    }
    guard !answered.isEmpty else {
      let first = faults.first.map { "'\($0.name)': \($0.reason)" } ?? ""
      let none =
        examples.count == 1
        ? "the only \(Job.exampleName) cannot" : "none of \(counted(examples.count, Job.exampleName)) can"
      throw .invalidRequest("\(none) be read: \(first)")
    }
    self.answered = answered
    outcomes = contenders.indices.map { place in answered.compactMap { all.outcomes[$0]?[place] } }
  }

  /// The reason why one example could not be read.
  private struct Unreadable: Error { var reason: String }

  private static func outcomes<Job: Evaluation>(
    _ job: Job.Type, _ contenders: [EvaluationContender<Job.Request>], _ example: Job.Dataset.Example,
    _ outcome: (Int, Job.Request.Question, Job.Dataset.Example) throws(VisionError) -> Outcome
  ) throws(VisionError) -> Result<[Outcome], Unreadable> {
    let question: Job.Request.Question
    do throws(VisionError) { question = try job.question(of: example) } catch {
      guard case .image(let fault) = error, fault.code != .decoderMissing else { throw error }
      return .failure(Unreadable(reason: fault.reason))
    }
    var outcomes: [Outcome] = []
    for place in contenders.indices { outcomes.append(try outcome(place, question, example)) }
    return .success(outcomes)
  }
}

extension Evaluation where Request.Question == DecodedImage {
  /// Decodes the image at the example's path.
  public static func question(of example: Dataset.Example) throws(VisionError) -> DecodedImage {
    do throws(ImageError) { return try ImageCodec.decode(path: example.name, below: example.folder) } catch {
      throw .image(error)
    }
  }

  /// Returns the upright image without annotations.
  public func image(of example: Int, by contender: Int) throws(VisionError) -> PixelBuffer? {
    let decoded = try Self.question(of: examples[example])
    do throws(ImageError) { return try decoded.pixels.oriented(decoded.orientation) } catch { throw .image(error) }
  }
}
