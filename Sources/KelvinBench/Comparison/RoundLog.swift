package import KelvinMeasurements
package import KelvinThermal

/// The rounds of one phase, in each of which every configuration has its turn: which were disturbed by others, and
/// whether another one is worth its time.
///
/// A disturbed round is repeated, and where the planned rounds decide nothing as many again may be had: in all at most
/// twice as many as were planned, whatever for. Where most rounds are disturbed nothing is repeated or added, and a
/// deadline ends them.
package struct RoundLog: Sendable {
  /// Looks at the rounds: after the planned ones, and after as many again.
  package static let looks = 2

  /// Rounds that are wanted: as planned, or twice as many.
  package private(set) var planned: Int
  /// The most rounds, disturbed ones included.
  private var most: Int
  private var isExtended = false
  /// For each round that has ended.
  package private(set) var isDisturbed: [Bool] = []
  private var watch: ContentionWatch
  private var isCurrentDisturbed = false
  /// Rounds at the end of which nothing is known yet.
  private var pending = 0
  private var isKnown = false
  /// Rounds of which all is known.
  private var settled = 0
  private let deadline: Double
  private var latest: Double

  /// - Parameters:
  ///   - deadline: after which no more rounds are wanted than a comparison needs, where most are disturbed.
  ///   - companions: processes whose time is not a neighbour's.
  package init(
    planned: Int, files: SystemFiles, at now: Double, deadline: Double = .infinity, companions: [Int32] = []
  ) {
    self.deadline = deadline
    latest = now
    self.planned = planned
    most = planned + (planned + 1) / 2
    watch = ContentionWatch(files: files, at: now, companions: companions)
  }

  /// Whether rounds are missing, or so many were disturbed that one more helps and may be had.
  package var wantsAnother: Bool {
    let count = isDisturbed.count
    if isCutShort { return false }
    // Where most rounds are disturbed the next ones will be too: the time is worth more than the interval.
    return count < planned || (count < most && quiet.count < planned && 2 * quiet.count >= count)
  }

  /// Whether time was up before all planned rounds were made.
  package var isCutShort: Bool {
    latest >= deadline && isDisturbed.count >= PairedComparison.fewestPairs && isBusy && isDisturbed.count < planned
  }

  /// Whether most rounds were disturbed.
  private var isBusy: Bool { 2 * quiet.count < isDisturbed.count }

  /// Whether as many rounds again may be had.
  package var mayExtend: Bool { !isExtended && !isBusy }

  /// Wants as many rounds again, where that has not been done yet and most rounds were quiet.
  ///
  /// - Returns: whether it does.
  package mutating func extend() -> Bool {
    guard mayExtend else { return false }
    isExtended = true
    planned *= 2
    most = max(most, planned)
    return true
  }

  /// Rounds that nobody disturbed.
  package var quiet: [Int] { isDisturbed.indices.filter { !isDisturbed[$0] } }

  /// A configuration's turn has ended.
  ///
  /// - Returns: what others took since the last look; nil where too little time has passed to tell.
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

  /// - Returns: the first round of which something is known that was not before.
  @discardableResult
  package mutating func endRound() -> Int {
    isDisturbed.append(isCurrentDisturbed)
    let from = settled
    isCurrentDisturbed = false
    if isKnown { settled = isDisturbed.count } else { pending += 1 }
    return from
  }
}

/// What others took while one configuration had its turns.
package struct ContentionSummary: Sendable, Hashable, Codable {
  /// Stretches of time that were looked at.
  package private(set) var windows = 0
  /// Those in which others took processor time that was wanted.
  package private(set) var disturbed = 0
  /// Means and largest values over the windows, 0…1: what the hypervisor gave to other guests, what other processes
  /// of this machine used, and the time in which some task waited, this process's own included.
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
