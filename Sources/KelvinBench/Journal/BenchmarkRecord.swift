package import KelvinMeasurements
import KelvinPlanning
package import KelvinReport
package import KelvinRuntime
package import KelvinStreams

/// The measurements of a benchmark so far, assembled from its journal's entries. A result is computed from nothing
/// else.
package struct BenchmarkRecord: Sendable {
  /// The measurements of one configuration.
  package struct Configuration: Sendable {
    package var setup: JournalEntry.Configuration
    package var coldStarts: [ConfigurationResult.Start] = []
    package var starts: [ConfigurationResult.Start] = []
    /// Seconds of the warm inferences, by round.
    package var warm: [[Double]] = []
    package var slices: [FrameSlice] = []
    /// The sequences of tokens. The first is the one-shot sequence; the others are slices as well.
    package var runs: [TokenRun] = []
    /// The storage of the model's token state (KV cache), in words.
    package var memory = ""
    package var energy: [EnergyUse] = []
    package var heat: [ReportSeries.Heat] = []
    package var thermalSource = ""
    /// Limits of the measurement of heat.
    package var thermalRemarks: Set<String> = []
    package var actions: [GovernorAction] = []
    package var ladder: StreamLadder?
    package var contention = ContentionSummary()
    package var pipeline: ConfigurationResult.Pipeline?
    package var weights: WeightReport?
    package var agreement: ReportAgreement?
    package var trace: [TraceEvent] = []
    /// The reason for which the configuration failed; nil while it takes part.
    package var failure: String?

    /// Whether the configuration answered more than its first inference.
    var hasRun: Bool { !warm.isEmpty || !runs.isEmpty }
    /// The median of each round, in seconds.
    var warmMedians: [Double] { warm.map { (try? LatencyStatistics($0).median) ?? 0 } }
    /// Seconds of the sustained load.
    var sustainedSeconds: Double { slices.reduce(0) { $0 + $1.elapsed } }
    /// Half the width of the 95 % interval of one inference's energy: the doubt of the idle power, which all slices
    /// share, and the variation of the slices. Nil when the energy was not measured, or in fewer than two slices.
    var energyDoubt: Double? {
      let each = zip(slices, energy).filter { !$0.0.frames.isEmpty }
      let frames = Double(each.reduce(0) { $0 + $1.0.frames.count })
      guard energy.allSatisfy(\.isMeasured),
        let spread = MeanInterval(each.map { ($1.joules ?? 0) / Double($0.frames.count) })
      else { return nil }
      let idle = energy.reduce(0) { $0 + ($1.doubt ?? 0) } / frames
      return (idle * idle + spread.half * spread.half).squareRoot()
    }
    /// The energy of the sustained load; nil when any part is unknown or nothing was measured.
    var joules: Double? {
      energy.isEmpty ? nil : energy.reduce(0) { sum, use in sum.flatMap { sum in use.joules.map { sum + $0 } } }
    }
  }

  package struct Phase: Sendable {
    package var planned: Int
    /// For each round, whether others disturbed it, as far as known.
    package var isDisturbed: [Bool]
    /// Whether all rounds were made.
    package var isComplete = false

    package init(planned: Int = 0, isDisturbed: [Bool] = []) {
      self.planned = planned
      self.isDisturbed = isDisturbed
    }

    /// The rounds that count: the undisturbed ones, or all when too few are undisturbed.
    package var kept: [Int] {
      let quiet = isDisturbed.indices.filter { !isDisturbed[$0] }
      return quiet.count >= min(planned, PairedComparison.fewestPairs) ? quiet : Array(isDisturbed.indices)
    }
  }

  package private(set) var benchmark: JournalEntry.Benchmark
  package private(set) var configurations: [Configuration] = []
  package private(set) var phases: [BenchmarkSample.Phase: Phase] = [:]
  package private(set) var notes: [String] = []
  package private(set) var agreementRemark = "interrupted"
  package private(set) var interruption: String?

  package init(_ benchmark: JournalEntry.Benchmark) { self.benchmark = benchmark }

  /// - Throws: `invalidJournal` for an entry that is not valid after the previous ones.
  package mutating func add(_ entry: JournalEntry) throws(BenchmarkError) {
    func change(_ index: Int, _ change: (inout Configuration) -> Void) throws(BenchmarkError) {
      guard configurations.indices.contains(index) else {
        throw .invalidJournal("configuration \(index) of \(configurations.count)")
      }
      change(&configurations[index])
    }
    switch entry {
    case .benchmark: throw .invalidJournal("it begins twice")
    case .configuration(let setup): configurations.append(.init(setup: setup))
    case .start(let index, let isCold, let start):
      try change(index) { if isCold { $0.coldStarts.append(start) } else { $0.starts.append(start) } }
    case .warm(let index, let seconds): try change(index) { $0.warm.append(seconds) }
    case .slice(let index, let slice, let energy):
      try change(index) {
        $0.slices.append(slice)
        $0.energy.append(energy)
      }
    case .heat(let index, let heat, let source, let remarks):
      try change(index) {
        $0.heat.append(heat)
        $0.thermalSource = source
        $0.thermalRemarks.formUnion(remarks)
      }
    case .tokens(let index, let run, let energy):
      try change(index) {
        $0.runs.append(run)
        guard let energy else { return }
        $0.slices.append(FrameSlice(run))
        $0.energy.append(energy)
      }
    case .memory(let index, let text): try change(index) { $0.memory = text }
    case .action(let index, let action): try change(index) { $0.actions.append(action) }
    case .ladder(let index, let ladder): try change(index) { $0.ladder = ladder }
    case .contention(let index, let contention): try change(index) { $0.contention.add(contention) }
    case .pipeline(let index, let pipeline): try change(index) { $0.pipeline = pipeline }
    case .weights(let index, let weights): try change(index) { $0.weights = weights }
    case .agreement(let index, let agreement): try change(index) { $0.agreement = agreement }
    case .trace(let index, let events): try change(index) { $0.trace = events }
    case .failure(let index, let reason): try change(index) { $0.failure = reason }
    case .rounds(let phase, let planned, let from, let disturbed):
      var rounds = phases[phase] ?? Phase()
      guard (0...rounds.isDisturbed.count).contains(from) else {
        throw .invalidJournal("round \(from) of \(rounds.isDisturbed.count) in the \(phase.rawValue) phase")
      }
      rounds.planned = planned
      rounds.isDisturbed.replaceSubrange(from..., with: disturbed)
      phases[phase] = rounds
    case .completed(let phase): phases[phase, default: Phase()].isComplete = true
    case .note(let note): notes.append(note)
    case .agreementRemark(let remark): agreementRemark = remark
    case .interruption(let interruption): self.interruption = interruption
    }
  }
}
