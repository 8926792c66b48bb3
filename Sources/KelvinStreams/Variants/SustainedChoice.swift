import KelvinBasics
package import KelvinThermal

/// The choice between the plan of least latency and the plan for goal `sustained`, for a stream that heat would slow
/// down.
package struct SustainedChoice: Sendable, Hashable {
  package var quick: StreamPlan
  package var lasting: StreamPlan
  /// Whether the sustained plan answers more frames indefinitely.
  package var takesLasting: Bool
  /// The reason in words, with the deciding numbers.
  package var reason: String

  /// The relative gain of rate below which the quicker plan is preferred.
  private static let leastGain = 0.01

  /// - Parameters:
  ///   - secondsToLimit: seconds to the limit at the quicker plan's load, from the outlook.
  ///   - framesPerSecond: arrivals per second.
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
  /// The mean watts above idle under a stream.
  package func meanWatts(framesPerSecond: Double) -> Double {
    joulesPerFrame * min(framesPerSecond, 1 / secondsPerFrame)
  }

  /// Returns the answers per second that can be sustained indefinitely: the least of the arrival rate, the service rate
  /// and the envelope's thermal limit, (P_sus − P_idle) / E.
  package func sustainableRate(framesPerSecond: Double, on envelope: ThermalEnvelope) -> Double {
    let spare = envelope.sustainableWatts - envelope.idleWatts
    return min(framesPerSecond, 1 / secondsPerFrame, joulesPerFrame > 0 ? spare / joulesPerFrame : .infinity)
  }
}

extension ThermalEnvelope {
  /// The seconds after which the slow path has completed 95 % of its change, so that temperatures are settled.
  package var settlingSeconds: Double { 3 * slow.tau }
}
