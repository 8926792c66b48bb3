import KelvinBasics
package import KelvinThermal

/// Simulates the heat of a machine of another class while frames run on this one.
///
/// The envelope's two-pole model is fed with the power that the frames' plans would draw there: over an interval of the
/// envelope's time, P = P_idle + Σ watts · seconds at work / seconds. Its time runs `speed` times as fast as the
/// stream's, and a report's `at` is in the envelope's time.
///
/// Frames are not slowed down at the limit, unlike on the simulated machine.
package struct SimulatedHeat: Sendable {
  /// The simulated machine, as reports name it.
  package struct Setup: Sendable, Hashable, Codable {
    package static let speeds = 1.0...600.0

    /// The envelope's name.
    package var envelope: String
    /// The seconds of heat in each second of the stream.
    package var speed: Double

    package init(envelope: String, speed: Double) {
      self.envelope = envelope
      self.speed = speed
    }

    /// A description such as `simulated: the envelope "phone", 60 s of its heat in each second`.
    package var text: String {
      "simulated: the envelope \"\(envelope)\""
        + (speed == 1 ? "" : ", \(HumanReadable.significant(speed)) s of its heat in each second")
    }
  }

  /// The longest interval of the envelope's time between two reports, in seconds.
  private static let step = 1.0

  package let envelope: ThermalEnvelope
  package let setup: Setup
  package private(set) var model: ThermalModel
  private var filter = ThermalStateFilter()
  private var time = 0.0
  /// The energy above idle since the latest report, in watts times seconds of the stream.
  private var work = 0.0

  /// - Throws: `StreamError` for a speed outside `Setup.speeds`.
  package init(envelope: ThermalEnvelope, speed: Double) throws(StreamError) {
    guard Setup.speeds.contains(speed) else {
      throw StreamError(
        "the speed of simulated heat: expected \(HumanReadable.significant(Setup.speeds.lowerBound)) to "
          + "\(HumanReadable.significant(Setup.speeds.upperBound)), got \(speed)")
    }
    self.envelope = envelope
    setup = Setup(envelope: envelope.name, speed: speed)
    model = envelope.model()
  }

  /// Adds the work of a frame.
  ///
  /// - Parameters:
  ///   - seconds: seconds of the stream's time.
  ///   - watts: the power above idle that its plan draws on a machine of the envelope's class.
  package mutating func add(seconds: Double, watts: Double) {
    guard seconds > 0, seconds.isFinite, watts >= 0, watts.isFinite else { return }
    work += seconds * watts
  }

  /// Advances the heat in steps of at most one second of the envelope's time.
  ///
  /// - Parameter now: seconds of the stream; no time passes if it goes back.
  /// - Returns: the reports of the steps in order; none if no time has passed.
  package mutating func advance(to now: Double) -> [ThermalReport] {
    let elapsed = now * setup.speed - time
    guard elapsed > 0, elapsed.isFinite else { return [] }
    let watts = envelope.idleWatts + work * setup.speed / elapsed
    work = 0
    let load = envelope.load(watts: watts)
    let steps = max(1, Int(min((elapsed / Self.step).rounded(.up), 1e5)))
    let (begin, seconds) = (time, elapsed / Double(steps))
    return (1...steps).map { step in
      time = begin + seconds * Double(step)
      model.advance(by: seconds, load: load)
      return report(watts: watts, load: load)
    }
  }

  private mutating func report(watts: Double, load: Double) -> ThermalReport {
    let state = filter.update(at: time, headroom: model.headroom)
    let remaining = model.timeToLimit(load: load)
    return ThermalReport(
      at: time, state: state, headroom: model.headroom, source: .model,
      sourceDescription: "\(setup.text), driven by the power of the running plan there", watts: watts,
      timeToLimit: remaining.isFinite ? remaining : nil,
      outlook: ThermalOutlook(
        model: model, idleWatts: envelope.idleWatts, sustainableWatts: envelope.sustainableWatts, load: load))
  }
}
