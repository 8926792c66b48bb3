import KelvinBasics
package import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning
package import KelvinThermal

/// All measurements that an advice is based on.
package struct AdviceEvidence: Sendable {
  /// A configuration that was examined.
  package struct Candidate: Sendable {
    package var label: String
    /// The labels of configurations that are equal to this one.
    package var equivalentLabels: [String]
    /// The label of the configuration that runs the same plan for one inference at a time, and is measured for both; nil
    /// if this one is measured itself. Only their plans for throughput differ.
    package var twin: String?
    /// The identifiers of the devices that run its layers.
    package var devices: [String]
    /// The threads of the CPU device.
    package var threads: Int
    /// The least exact precision that was allowed.
    package var precision: Precision
    /// The plan for one prediction at a time.
    package var plan: Plan

    package init(
      label: String, equivalentLabels: [String] = [], twin: String? = nil, devices: [String], threads: Int,
      precision: Precision, plan: Plan
    ) {
      self.twin = twin
      self.label = label
      self.equivalentLabels = equivalentLabels
      self.devices = devices
      self.threads = threads
      self.precision = precision
      self.plan = plan
    }
  }

  /// A configuration that was not measured, for one part or for all.
  package struct Omission: Sendable, Hashable, Codable {
    package var label: String
    /// The part for which the configuration was not measured; nil for all parts.
    package var part: AdvicePart?
    package var reason: String
  }

  /// The envelope of the measured machine.
  package var machine: ThermalEnvelope
  /// In the order of the request.
  package var candidates: [Candidate] = []
  package private(set) var omissions: [Omission] = []
  package private(set) var results: [AdvicePart: BenchmarkResult] = [:]
  /// The trials of plans that mix devices, also of those that did not become a candidate.
  package var trials: [TriedPlans] = []
  /// Error descriptions of parts that failed.
  package var failures: [String] = []
  /// The point at which the user interrupted; nil when everything was measured.
  package var interruption: String?

  package init(machine: ThermalEnvelope) { self.machine = machine }

  package mutating func leave(out label: String, _ reason: String) {
    omissions.append(Omission(label: label, part: nil, reason: reason))
  }

  /// - Parameter leftOut: configurations for which there was no time.
  mutating func add(_ result: BenchmarkResult, of part: AdvicePart, leftOut: [CandidateProbe]) {
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
