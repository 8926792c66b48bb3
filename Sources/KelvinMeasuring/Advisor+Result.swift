public import FoundationEssentials
public import Kelvin
import KelvinBench
public import KelvinFeatures
import KelvinGraph
import KelvinPlanning
import KelvinReport
import KelvinRuntime

extension Advisor {
  /// The result of an advisor's run.
  public struct Result: Sendable {
    /// The recommended configuration for one question.
    public struct Pick: Hashable, Sendable {
      /// The question that the configuration answers.
      public let question: Question
      /// The units, threads and precision, such as `cpu, 2 threads`.
      public let configuration: String
      /// The number of CPU threads, for `ModelConfiguration.threadCount`. A saved plan does not contain it.
      public let threadCount: Int
      /// The precision, for `ModelConfiguration.precision`.
      public let precision: ComputePrecision
      /// Whether the configuration measured better than every other beyond noise; always false if the answer comes from
      /// the thermal model.
      public let isBeyondNoise: Bool
      /// An explanation with the numbers that the pick is based on and the cost of the second best configuration.
      public let sentence: String
    }

    private let advice: Advice
    private let context: ModelContext
    /// The measurements' journals, for `kelvin report`.
    package let journals: [String]

    init(_ advice: Advice, of context: ModelContext, journals: [String]) {
      self.advice = advice
      self.context = context
      self.journals = journals
    }

    /// The picks, one for each question that could be answered.
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
    /// Sentences that say under which conditions one configuration becomes faster than another.
    public var crossovers: [String] { advice.crossovers.map(\.sentence) }
    /// Notes about configurations that were left out or are equivalent, and about limits of the measurements.
    public var notes: [String] { advice.notes }
    /// The reason why measuring ended early; nil if everything was measured.
    public var interruption: String? { advice.evidence.interruption }

    /// Writes the plan of each pick, for `ModelConfiguration.plan`: `photo.json`, `stream.json` and so on.
    ///
    /// - Parameter folder: the destination folder, which is created if it does not exist.
    /// - Returns: the files.
    /// - Throws: `ModelError` with code `io` if a file cannot be written.
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

    /// Stores the plan of each pick in the user's cache.
    ///
    /// - Returns: the files of the plans that could be stored.
    /// - Throws: `ModelError` if a plan cannot be encoded.
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

    /// The result as lines for a terminal.
    package var lines: [String] { advice.lines }

    /// Returns the result as a JSON document. Units are seconds, bytes and joules.
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

    /// Renders a self-contained HTML page: the picks and their table first, then placement, time, latency and heat.
    public func htmlReport() -> String { advice.report().map { HTMLReport.render($0) } ?? "" }
  }
}
