#if Measuring
public import FoundationEssentials
import KelvinBench
public import KelvinFeatures
import KelvinGraph
import KelvinPlanning
import KelvinReport
import KelvinRuntime

extension Advisor {
  /// What an advisor found out.
  public struct Result: Sendable {
    /// The configuration for one question.
    public struct Pick: Hashable, Sendable {
      /// What is wanted of the model.
      public let question: Question
      /// Units, threads and precision: `cpu, 2 threads`.
      public let configuration: String
      /// Of the CPU, for `ModelConfiguration.threadCount`: a plan says nothing of them.
      public let threadCount: Int
      /// For `ModelConfiguration.precision`.
      public let precision: ComputePrecision
      /// Whether it was measured better than every other beyond noise; never for what a model of heat tells.
      public let isBeyondNoise: Bool
      /// In words, with the numbers that it rests on and what the second best would cost.
      public let sentence: String
    }

    private let advice: Advice
    private let context: ModelContext
    /// The journals of what was measured, for `kelvin report`.
    package let journals: [String]

    init(_ advice: Advice, of context: ModelContext, journals: [String]) {
      self.advice = advice
      self.context = context
      self.journals = journals
    }

    /// One for each question that could be answered.
    public var picks: [Pick] {
      advice.picks.compactMap { pick in
        let candidate = advice.rows[pick.row].candidate
        return Question(rawValue: pick.question.rawValue).map {
          Pick(
            question: $0, configuration: candidate.label, threadCount: candidate.threads,
            precision: ComputePrecision(rawValue: candidate.precision.rawValue) ?? .automatic,
            isBeyondNoise: pick.isBeyondNoise,
            sentence: advice.sentence(pick))
        }
      }
    }
    /// Where one configuration overtakes another, in sentences.
    public var crossovers: [String] { advice.crossovers.map(\.sentence) }
    /// What was left out, what comes to the same, and what limits trust in it.
    public var notes: [String] { advice.notes }
    /// Where it was interrupted; nil where everything was measured.
    public var interruption: String? { advice.evidence.interruption }

    /// Writes the plan of each pick, for `ModelConfiguration.plan`: `photo.json`, `stream.json` and so on.
    ///
    /// - Parameter folder: is made where it is not there.
    /// - Returns: the files.
    /// - Throws: `ModelError` with code `io` where one cannot be written.
    @discardableResult
    public func savePlans(to folder: URL) throws(ModelError) -> [Question: URL] {
      try LocalFile.makeFolder(folder.relativePath)
      var files: [Question: URL] = [:]
      for (question, plan) in try plans() {
        let file = folder.appending(path: "\(question.rawValue).json")
        try LocalFile.write(plan, to: file.relativePath)
        files[question] = file
      }
      return files
    }

    /// Keeps the plan of each pick in the user's cache.
    ///
    /// - Returns: the files; without those that could not be kept.
    /// - Throws: `ModelError` where a plan cannot be written out.
    package func keepPlans() throws(ModelError) -> [Question: URL] {
      try plans().reduce(into: [:]) { files, entry in
        files[entry.question] = context.keep(entry.plan, for: "advise-\(entry.question.rawValue)").map {
          URL(filePath: $0)
        }
      }
    }

    private func plans() throws(ModelError) -> [(question: Question, plan: Data)] {
      try ModelError.measuring {
        try advice.picks.compactMap { pick in
          guard let question = Question(rawValue: pick.question.rawValue) else { return nil }
          return (question, try advice.plan(of: pick).json() + [0x0A])
        }
      }
    }

    /// As text, for a terminal.
    package var lines: [String] { advice.lines }

    /// Everything as one JSON document; seconds, bytes and joules.
    ///
    /// - Parameter plans: the files that `savePlans` wrote.
    public func json(plans: [Question: URL] = [:]) throws(ModelError) -> Data {
      let files = plans.compactMap { question, url in
        AdviceRequest.Question(rawValue: question.rawValue).map { ($0, url.relativePath) }
      }
      return try ModelError.measuring {
        try advice.json(plans: Dictionary(uniqueKeysWithValues: files), journals: journals)
      }
    }

    /// A self-contained HTML page: the picks and their table first, then placement, time, latency and heat.
    public func htmlReport() -> String { advice.report().map { HTMLReport.render($0) } ?? "" }
  }
}
#endif
