import KelvinBasics
package import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning
package import KelvinThermal

/// Everything that an advice is drawn from.
package struct AdviceEvidence: Sendable {
  /// A configuration that was looked at.
  package struct Candidate: Sendable {
    package var label: String
    /// The labels of those that come to the same.
    package var also: [String]
    /// The identifiers of the devices that run its layers.
    package var devices: [String]
    /// Of the CPU device.
    package var threads: Int
    /// The least exact numerics that were allowed.
    package var precision: Precision
    /// For one prediction at a time.
    package var plan: Plan

    package init(
      label: String, also: [String] = [], devices: [String], threads: Int, precision: Precision, plan: Plan
    ) {
      self.label = label
      self.also = also
      self.devices = devices
      self.threads = threads
      self.precision = precision
      self.plan = plan
    }
  }

  /// A configuration that a question, or all of them, were not asked of.
  package struct Omission: Sendable, Hashable, Codable {
    package var label: String
    /// Nil for all.
    package var part: AdvicePart?
    package var reason: String
  }

  /// Of the machine that was measured.
  package var machine: ThermalEnvelope
  /// In the order given.
  package var candidates: [Candidate] = []
  package private(set) var omissions: [Omission] = []
  package private(set) var results: [AdvicePart: BenchmarkResult] = [:]
  /// What was tried of plans that mix devices, whether or not a candidate came of it.
  package var trials: [TriedPlans] = []
  /// Parts that ended in an error, in words.
  package var failures: [String] = []
  /// Where the user gave up; nil where everything was measured.
  package var interruption: String?

  package init(machine: ThermalEnvelope) { self.machine = machine }

  package mutating func leave(out label: String, _ reason: String) {
    omissions.append(Omission(label: label, part: nil, reason: reason))
  }

  /// - Parameter leftOut: configurations for which there was no time.
  mutating func add(_ result: BenchmarkResult, of part: AdvicePart, leftOut: [AdviceLook]) {
    results[part] = result
    interruption = result.interruption.map { "\(part.rawValue): \($0)" }
    let seconds = HumanReadable.seconds
    for look in leftOut {
      let reason =
        "no time was left within the budget (a start takes about \(seconds(look.start)), an inference \(seconds(look.seconds)))"
      omissions.append(Omission(label: look.label, part: part, reason: reason))
    }
  }
}
