package import KelvinProfiling

extension ThermalEnvelope {
  /// The class of machine to assume where nothing better is known: a guest runs on a server, anything else is taken
  /// for a desktop. The numbers are those of `Profiles/thermal/`.
  package static func assumed(for machine: MachineDescription) -> ThermalEnvelope {
    machine.isVirtualised ? .server : .desktop
  }

  package static let server = ThermalEnvelope(
    name: "server",
    summary: "One socket of a rack server, whose cooling is built for its rated power. A class, not one model.",
    fast: ThermalPole(weight: 0.6, tau: 3), slow: ThermalPole(weight: 0.4, tau: 90), idleWatts: 100,
    sustainableWatts: 350, fullLoadWatts: 350, sources: inherited("server"))

  package static let desktop = ThermalEnvelope(
    name: "desktop",
    summary: "A desktop with a tower or boxed cooler, processor only. A class, not one model.",
    fast: ThermalPole(weight: 0.5, tau: 4), slow: ThermalPole(weight: 0.5, tau: 150), idleWatts: 10,
    sustainableWatts: 65, fullLoadWatts: 117, sources: inherited("desktop"))

  private static func inherited(_ name: String) -> [String: String] {
    Dictionary(uniqueKeysWithValues: coefficients.map { ($0, "Profiles/thermal/\(name).json") })
  }
}
