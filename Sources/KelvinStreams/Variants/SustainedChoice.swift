import KelvinBasics
package import KelvinThermal

/// Which plan a stream is to have where heat would slow it: the one with the least latency, or the one that was made to
/// last.
package struct SustainedChoice: Sendable, Hashable {
  package var quick: StreamPlan
  package var lasting: StreamPlan
  /// Whether the plan that was made to last answers more frames for ever.
  package var takesLasting: Bool
  /// In words, with the numbers that decide.
  package var reason: String

  /// The difference of rates below which the quicker plan is preferred.
  private static let leastGain = 0.01

  /// - Parameters:
  ///   - secondsToLimit: at the quicker plan's load, as the outlook has it.
  ///   - framesPerSecond: arrivals.
  package init(
    quick: StreamPlan, lasting: StreamPlan, framesPerSecond: Double, secondsToLimit: Double,
    on envelope: ThermalEnvelope
  ) {
    self.quick = quick
    self.lasting = lasting
    let rates = [quick, lasting].map { $0.sustainableRate(framesPerSecond: framesPerSecond, on: envelope) }
    takesLasting = rates[1] > (1 + Self.leastGain) * rates[0]
    func text(_ plan: StreamPlan, _ rate: Double) -> String {
      "\(HumanReadable.perSecond(rate)) at \(HumanReadable.seconds(plan.secondsPerFrame)) a frame"
    }
    reason =
      "the envelope \"\(envelope.name)\" is at its limit after \(HumanReadable.seconds(secondsToLimit)) with the plan of"
      + " least latency; tried here, it can be held at \(text(quick, rates[0])), the plan made to last at"
      + " \(text(lasting, rates[1])): \(takesLasting ? "the plan made to last" : "the plan of least latency") is taken"
  }
}

extension StreamPlan {
  /// Mean watts above idle under a stream.
  package func meanWatts(framesPerSecond: Double) -> Double {
    joulesPerFrame * min(framesPerSecond, 1 / secondsPerFrame)
  }

  /// Answers a second that can be held for ever: what arrives, what there is time for, and what the envelope sheds as
  /// heat, (P_sus − P_idle) / E, whichever is least.
  package func sustainableRate(framesPerSecond: Double, on envelope: ThermalEnvelope) -> Double {
    let spare = envelope.sustainableWatts - envelope.idleWatts
    return min(framesPerSecond, 1 / secondsPerFrame, joulesPerFrame > 0 ? spare / joulesPerFrame : .infinity)
  }
}

extension ThermalEnvelope {
  /// Seconds after which the slow path has gone 95 % of its way, so that what is hot by then stays so.
  package var settlingSeconds: Double { 3 * slow.tau }
}
