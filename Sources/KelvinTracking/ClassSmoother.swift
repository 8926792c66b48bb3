import Glibc

/// Smooths the probabilities of classes over time, and changes the shown class only after a lead that lasts.
package struct ClassSmoother: Sendable {
  /// The parameters of a `ClassSmoother`.
  package struct Options: Sendable, Hashable, Codable {
    /// The seconds after which a smoothed probability has covered 63 % of a step of its input.
    package var seconds = 0.5
    /// The lead of another class over the shown one, as a difference of smoothed probabilities.
    package var lead = 0.1
    /// The seconds for which the lead must last.
    package var secondsOfLead = 0.3

    /// Creates the default parameters.
    package init() {}
  }

  package let options: Options
  /// The class that is shown, as an index; nil before the first update.
  package private(set) var shown: Int?
  /// The smoothed probability of each class.
  package private(set) var probabilities: [Double] = []
  /// The smoothed probability of the shown class; 0 before the first update.
  package var probability: Double { shown.map { probabilities[$0] } ?? 0 }

  private var lastTime: Double?
  /// The class that leads over the shown one, and since when.
  private var leader: (label: Int, since: Double)?

  /// Creates a smoother of one stream or one track.
  ///
  /// - Precondition: The parameters are at least 0.
  package init(_ options: Options = Options()) {
    precondition(options.seconds >= 0 && options.lead >= 0 && options.secondsOfLead >= 0, "negative option")
    self.options = options
  }

  /// Adds the probabilities of a frame.
  ///
  /// The weight of a frame is `1 − exp(−t / seconds)` for the time t since the previous one, so the result does not
  /// depend on the rate of frames. A time that is not later than the previous one changes nothing.
  ///
  /// - Parameters:
  ///   - values: The probability of each class. A value that is not a number counts as 0. Missing classes have 0, and
  ///     the number of classes is that of the first update with values.
  ///   - time: The time of the frame in seconds.
  /// - Returns: The shown class; nil if there was no value yet.
  @discardableResult package mutating func update(_ values: [Double], at time: Double) -> Int? {
    guard let previous = lastTime else { return begin(values, at: time) }
    guard time > previous, time.isFinite else { return shown }
    lastTime = time
    let kept = options.seconds > 0 ? exp(-(time - previous) / options.seconds) : 0
    for index in probabilities.indices {
      let value = index < values.count ? Self.number(values[index]) : 0
      probabilities[index] = value + kept * (probabilities[index] - value)
    }
    follow(at: time)
    return shown
  }

  private static func number(_ value: Double) -> Double { value.isNaN ? 0 : min(max(value, 0), 1) }

  private mutating func begin(_ values: [Double], at time: Double) -> Int? {
    guard !values.isEmpty, time.isFinite else { return nil }
    lastTime = time
    probabilities = values.map(Self.number)
    shown = best
    return shown
  }

  /// The first class with the highest smoothed probability.
  private var best: Int? {
    probabilities.indices.reduce(nil) { best, index in
      best.map { probabilities[index] > probabilities[$0] ? index : $0 } ?? index
    }
  }

  private mutating func follow(at time: Double) {
    guard let shown, let best, best != shown, probabilities[best] - probabilities[shown] >= options.lead else {
      leader = nil
      return
    }
    if leader?.label != best { leader = (best, time) }
    guard let leader, time - leader.since >= options.secondsOfLead else { return }
    self.shown = best
    self.leader = nil
  }
}
