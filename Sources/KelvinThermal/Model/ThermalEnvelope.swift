import Glibc
package import KelvinMeasurements

/// The thermal and electrical limits of a class of machine, or of a calibrated machine. `Profiles/thermal/*.json`
/// contain envelopes with the source of each coefficient.
package struct ThermalEnvelope: Sendable, Hashable, Codable {
  package static let format = "kelvin-thermal-envelope"
  package static let version = 1
  /// The largest document in bytes; files usually have one or two kilobytes.
  package static let largestDocument = 1 << 20

  package var format = ThermalEnvelope.format
  package var version = ThermalEnvelope.version
  package var name: String
  package var summary: String
  /// The path of die and package, with τ of seconds.
  package var fast: ThermalPole
  /// The path of heat sink, chassis or skin, with τ of minutes.
  package var slow: ThermalPole
  /// The power when idle, in watts.
  package var idleWatts: Double
  /// The power that can be sustained indefinitely, in watts: headroom settles at 1.
  package var sustainableWatts: Double
  /// The power with every unit busy at full clock, in watts; may exceed the sustainable power.
  package var fullLoadWatts: Double
  /// The number of logical processors that share these watts; nil for machines that are not divided among guests.
  package var processors: Int?
  /// The calibrated machine, as in `MachineDescription.hardware`; nil for a class of machine.
  package var calibratedOn: String?
  /// The source of each coefficient's value, by name. Every coefficient has an entry.
  package var sources: [String: String]

  package static let coefficients = [
    "fast.weight", "fast.tau", "slow.weight", "slow.tau", "idleWatts", "sustainableWatts", "fullLoadWatts",
  ]

  package init(
    name: String, summary: String, fast: ThermalPole, slow: ThermalPole, idleWatts: Double, sustainableWatts: Double,
    fullLoadWatts: Double, sources: [String: String]
  ) {
    self.name = name
    self.summary = summary
    self.fast = fast
    self.slow = slow
    self.idleWatts = idleWatts
    self.sustainableWatts = sustainableWatts
    self.fullLoadWatts = fullLoadWatts
    self.sources = sources
  }

  /// - Parameters:
  ///   - bytes: the JSON document.
  ///   - document: the document's name in errors, usually the file's name.
  package init(json bytes: [UInt8], document: String) throws(MeasurementError) {
    self = try JSONDocument.decode(
      ThermalEnvelope.self, from: bytes, document: document, format: Self.format, version: Self.version,
      limit: Self.largestDocument)
    try validate(document: document)
  }

  package func json() throws(MeasurementError) -> [UInt8] { try JSONDocument.encode(self, document: name) }

  package func isCalibrated(on machine: MachineDescription) -> Bool { calibratedOn == machine.hardware }

  /// Returns a guest's share of the envelope: powers are scaled by its share of the logical processors, and the name
  /// states it. Headroom is unchanged, because load and limit scale alike. Other machines get the whole envelope.
  package func share(of machine: MachineDescription) -> ThermalEnvelope {
    guard machine.isVirtualised, let processors, machine.logicalCores < processors else { return self }
    let share = Double(machine.logicalCores) / Double(processors)
    var scaled = self
    scaled.name = "\(machine.logicalCores)/\(processors) of \(name)"
    scaled.idleWatts *= share
    scaled.sustainableWatts *= share
    scaled.fullLoadWatts *= share
    scaled.processors = machine.logicalCores
    return scaled
  }

  /// Returns a model at rest, settled at idle power.
  package func model() -> ThermalModel {
    let idle = load(watts: idleWatts)
    return ThermalModel(fast: fast, slow: slow, fastRise: idle, slowRise: idle)
  }

  /// Returns power divided by sustainable power.
  package func load(watts: Double) -> Double { watts / sustainableWatts }

  /// Returns P = P_idle + u (P_full − P_idle) (f/f_max)^g.
  ///
  /// - Parameters:
  ///   - utilisation: the busy share of the whole machine, clamped to 0...1.
  ///   - clockRatio: f/f_max.
  ///   - exponent: g; 2.5 is in the middle of the range of voltage scaling (2 to 3).
  package func watts(utilisation: Double, clockRatio: Double = 1, exponent: Double = 2.5) -> Double {
    let busy = utilisation.isFinite ? min(max(utilisation, 0), 1) : 0
    return idleWatts + busy * (fullLoadWatts - idleWatts) * pow(clockRatio, exponent)
  }

  private func validate(document: String) throws(MeasurementError) {
    func require(_ holds: Bool, _ place: String, _ expected: String, _ got: Double) throws(MeasurementError) {
      guard holds else {
        throw .invalidValue(document: document, at: place, expected: expected, got: "\(got)")
      }
    }
    for (name, pole) in [("fast", fast), ("slow", slow)] {
      try require(pole.tau > 0 && pole.tau <= 1e6, "\(name).tau", "seconds above 0, at most 1e6", pole.tau)
      try require(pole.weight >= 0 && pole.weight <= 1, "\(name).weight", "a share from 0 to 1", pole.weight)
    }
    let whole = fast.weight + slow.weight
    try require(abs(whole - 1) <= 1e-6, "fast.weight + slow.weight", "1", whole)
    try require(fast.tau < slow.tau, "fast.tau", "less than slow.tau (\(slow.tau))", fast.tau)
    try require(
      (processors ?? 1) >= 1, "processors", "logical processors, 1 or more", Double(processors ?? 1))
    try require(idleWatts >= 0, "idleWatts", "watts, zero or more", idleWatts)
    try require(
      sustainableWatts > idleWatts && sustainableWatts <= 1e6, "sustainableWatts",
      "watts above idleWatts (\(idleWatts)), at most 1e6", sustainableWatts)
    try require(
      fullLoadWatts > idleWatts && fullLoadWatts <= 1e6, "fullLoadWatts",
      "watts above idleWatts (\(idleWatts)), at most 1e6", fullLoadWatts)
    for coefficient in Self.coefficients + (processors == nil ? [] : ["processors"])
    where sources[coefficient]?.isEmpty ?? true {
      throw .invalidValue(
        document: document, at: "sources.\(coefficient)", expected: "where the coefficient comes from", got: "nothing")
    }
  }
}
