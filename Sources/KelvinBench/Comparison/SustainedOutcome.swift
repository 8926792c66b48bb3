import KelvinBasics
import KelvinReport
import KelvinStreams
package import KelvinThermal

/// The outcome of a sustained load: answered and lost frames, and the heat of the machine.
package struct SustainedOutcome: Sendable, Hashable {
  package struct Heat: Sendable, Hashable {
    /// The hottest state.
    package var state: ThermalState
    /// The seconds after which it was first reached.
    package var since: Double
    /// The highest headroom; 1.0 is the limit.
    package var headroom: Double

    package init(state: ThermalState, since: Double, headroom: Double) {
      self.state = state
      self.since = since
      self.headroom = headroom
    }
  }

  package var answered: Int
  /// Frames that newer ones displaced.
  package var dropped: Int
  /// Frames that the governor left out.
  package var skipped: Int
  /// The seconds after which the governor first left out frames.
  package var skippedSince: Double?
  /// Nil when nothing was observed.
  package var heat: Heat?

  package init(
    answered: Int = 0, dropped: Int = 0, skipped: Int = 0, skippedSince: Double? = nil,
    heat: Heat? = nil
  ) {
    self.answered = answered
    self.dropped = dropped
    self.skipped = skipped
    self.skippedSince = skippedSince
    self.heat = heat
  }

  init(_ sustained: ConfigurationResult.Sustained) {
    self.init(
      answered: sustained.served, dropped: sustained.dropped, skipped: sustained.skipped,
      skippedSince: sustained.actions.first { $0.setting.rate < 1 }?.at)
    guard let hottest = sustained.heat.max(by: { $0.state < $1.state }) else { return }
    heat = Heat(
      state: hottest.state, since: sustained.heat.first { $0.state == hottest.state }?.at ?? hottest.at,
      headroom: sustained.heat.map(\.headroom).max() ?? hottest.headroom)
  }

  /// Returns `keeps up`, or `answers 47.0 of 60.0 frames/s (18.3 % left out for heat since 49.0 s, 3.3 % dropped)`.
  package func text(framesPerSecond: Double) -> String {
    let arrived = Double(max(answered + dropped + skipped, 1))
    var losses: [String] = []
    if skipped > 0 {
      losses.append(
        "\(HumanReadable.percent(Double(skipped) / arrived)) left out for heat"
          + (skippedSince.map { " since \(HumanReadable.seconds($0))" } ?? ""))
    }
    if dropped > 0 { losses.append("\(HumanReadable.percent(Double(dropped) / arrived)) dropped") }
    guard !losses.isEmpty else { return "keeps up" }
    let rate = HumanReadable.significant(framesPerSecond * Double(answered) / arrived)
    return "answers \(rate) of \(HumanReadable.significant(framesPerSecond)) frames/s"
      + " (\(losses.joined(separator: ", ")))"
  }

  /// Returns `heat critical since 2 min 3 s, headroom up to 1.07`; nil below `serious`.
  package var heatText: String? {
    guard let heat, heat.state >= .serious else { return nil }
    return "heat \(heat.state.name) since \(HumanReadable.seconds(heat.since)), headroom up to "
      + HumanReadable.fixed(heat.headroom, decimals: 2)
  }
}
