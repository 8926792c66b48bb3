package import KelvinMeasurements
package import KelvinThermal

/// The rounds of one phase, in each of which every configuration has its turn: which rounds others disturbed, and
/// whether another round is useful.
///
/// Disturbed rounds are repeated, and undecided phases are doubled, up to twice the planned rounds in total. When most
/// rounds are disturbed, nothing is repeated or added, and a deadline ends the phase.
package struct RoundLog: Sendable {
  /// The number of evaluations of the rounds: after the planned ones, and after as many again.
  package static let looks = 2

  /// The number of wanted rounds: as planned, or twice as many.
  package private(set) var planned: Int
  /// The most rounds, disturbed ones included.
  private var most: Int
  private var isExtended = false
  /// For each finished round, whether others disturbed it.
  package private(set) var isDisturbed: [Bool] = []
  private var watch: ContentionWatch
  private var isCurrentDisturbed = false
  /// The number of finished rounds whose disturbance is not known yet.
  private var pending = 0
  private var isKnown = false
  /// The number of rounds whose disturbance is known.
  private var settled = 0
  private let deadline: Double
  private var latest: Double

  /// - Parameters:
  ///   - deadline: the time after which a busy machine gets no more rounds than a comparison needs.
  ///   - companions: processes whose processor time is not a disturbance.
  package init(
    planned: Int, files: SystemFiles, at now: Double, deadline: Double = .infinity, companions: [Int32] = []
  ) {
    self.deadline = deadline
    latest = now
    self.planned = planned
    most = planned + (planned + 1) / 2
    watch = ContentionWatch(files: files, at: now, companions: companions)
  }

  /// Whether planned rounds are missing, or disturbed rounds should be repeated.
  package var wantsAnother: Bool {
    let count = isDisturbed.count
    if isCutShort { return false }
    // When most rounds are disturbed, further ones most likely are too, and repeating them is not worth its time.
    return count < planned || (count < most && quiet.count < planned && 2 * quiet.count >= count)
  }

  /// Whether the time ended before all planned rounds were made.
  package var isCutShort: Bool {
    latest >= deadline && isDisturbed.count >= PairedComparison.fewestPairs && isBusy && isDisturbed.count < planned
  }

  /// Whether most rounds were disturbed.
  private var isBusy: Bool { 2 * quiet.count < isDisturbed.count }

  /// Whether the rounds may be doubled.
  package var mayExtend: Bool { !isExtended && !isBusy }

  /// Doubles the wanted rounds, unless that has been done or most rounds were disturbed.
  ///
  /// - Returns: whether the rounds were doubled.
  package mutating func extend() -> Bool {
    guard mayExtend else { return false }
    isExtended = true
    planned *= 2
    most = max(most, planned)
    return true
  }

  /// The indices of undisturbed rounds.
  package var quiet: [Int] { isDisturbed.indices.filter { !isDisturbed[$0] } }

  /// Ends a configuration's turn.
  ///
  /// - Returns: the contention since the last call; nil when too little time has passed to measure it.
  @discardableResult
  package mutating func endTurn(at now: Double) -> Contention? {
    latest = now
    guard let contention = watch.interval(at: now) else {
      isKnown = false
      return nil
    }
    isKnown = true
    if contention.isDisturbed {
      isCurrentDisturbed = true
      for round in isDisturbed.indices.suffix(pending) { isDisturbed[round] = true }
    }
    pending = 0
    return contention
  }

  /// Ends a round.
  ///
  /// - Returns: the first round whose disturbance has become known since the last call.
  @discardableResult
  package mutating func endRound() -> Int {
    isDisturbed.append(isCurrentDisturbed)
    let from = settled
    isCurrentDisturbed = false
    if isKnown { settled = isDisturbed.count } else { pending += 1 }
    return from
  }
}

/// The contention while one configuration had its turns.
package struct ContentionSummary: Sendable, Hashable, Codable {
  /// The number of observed time windows.
  package private(set) var windows = 0
  /// The number of windows in which others took processor time that was wanted.
  package private(set) var disturbed = 0
  /// Means and maxima over the windows, 0…1. `steal` went to other guests of the hypervisor, `neighbours` to other
  /// processes. `pressure` is the time in which a task waited, this process's own included.
  package private(set) var steal = 0.0
  package private(set) var largestSteal = 0.0
  package private(set) var neighbours: Double?
  package private(set) var largestNeighbours: Double?
  package private(set) var pressure: Double?

  package init() {}

  package mutating func add(_ contention: Contention) {
    windows += 1
    if contention.isDisturbed { disturbed += 1 }
    func mean(_ old: Double, _ new: Double) -> Double { old + (new - old) / Double(windows) }
    steal = mean(steal, contention.steal)
    largestSteal = max(largestSteal, contention.steal)
    if let share = contention.neighbours {
      neighbours = mean(neighbours ?? share, share)
      largestNeighbours = max(largestNeighbours ?? 0, share)
    }
    if let share = contention.pressure { pressure = mean(pressure ?? share, share) }
  }
}
