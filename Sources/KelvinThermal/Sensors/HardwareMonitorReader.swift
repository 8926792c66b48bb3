package import KelvinMeasurements

/// Reads `/sys/class/hwmon/hwmon*`: temperatures in millidegrees, power in microwatts.
///
/// Source: Linux `Documentation/hwmon/sysfs-interface`.
package struct HardwareMonitorReader: SensorReader {
  package static let name = "hwmon"

  package init() {}

  /// The chips of processors and graphics devices. Other chips (disks, radios, batteries) do not limit computing. The
  /// usual limit applies to chips that state none: AMD's processors report Tctl without a limit and slow down at 95 °C
  /// or slightly below.
  private static let chips: [String: (domain: SensorDomain, usualLimit: Double)] = [
    "coretemp": (.processor, 100), "k10temp": (.processor, 95), "zenpower": (.processor, 95),
    "cpu_thermal": (.processor, 85), "soc_thermal": (.processor, 85), "scmi_sensors": (.processor, 95),
    "amdgpu": (.graphics, 100), "nouveau": (.graphics, 95), "i915": (.graphics, 100), "xe": (.graphics, 100),
    "gpu_thermal": (.graphics, 85),
  ]

  /// Returns a known chip. Some boards expose each thermal zone as a chip, its name with underscores:
  /// `bigcore0_thermal`, `package_thermal`.
  private static func known(_ chip: String) -> (domain: SensorDomain, usualLimit: Double)? {
    if let known = chips[chip] { return known }
    guard chip.hasSuffix("_thermal") else { return nil }
    let domain = ThermalZoneReader.domain(chip)
    return domain == .other ? nil : (domain, 85)
  }

  package func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    let folder = "sys/class/hwmon"
    for entry in files.names(in: folder, prefix: "hwmon") {
      let path = "\(folder)/\(entry)"
      guard let chip = files.text("\(path)/name") else { continue }
      let known = Self.known(chip.lowercased())
      let domain = known?.domain ?? .other
      for name in files.names(in: path, prefix: "temp") where name.hasSuffix("_input") {
        let channel = name.dropLast("_input".count)
        guard let milli = files.integer("\(path)/\(name)"),
          let celsius = TemperatureReading.plausible(milliCelsius: milli)
        else { continue }
        let label = files.text("\(path)/\(channel)_label") ?? String(channel)
        let stated = ["crit", "max"].lazy.compactMap { files.integer("\(path)/\(channel)_\($0)") }
          .compactMap { TemperatureReading.plausible(milliCelsius: $0) }
          .first { $0 > TemperatureReading.ambientCelsius }
        snapshot.temperatures.append(
          TemperatureReading(
            sensor: "\(Self.name) \(chip) \"\(label)\"", domain: domain, celsius: celsius,
            limitCelsius: stated ?? known?.usualLimit ?? 95, limitIsAssumed: stated == nil))
      }
      if known != nil { readPower(files, path, chip: chip, domain: domain, into: &snapshot) }
    }
  }

  /// Reads mean or present power in microwatts with its cap, and counters in microjoules.
  private func readPower(
    _ files: SystemFiles, _ path: String, chip: String, domain: SensorDomain, into snapshot: inout SensorSnapshot
  ) {
    func watts(_ name: String) -> Double? {
      files.integer("\(path)/\(name)").flatMap { (0...10_000_000_000).contains($0) ? Double($0) / 1e6 : nil }
    }
    let inputs = files.names(in: path, prefix: "power")
    for name in inputs where name.hasSuffix("_average") || name.hasSuffix("_input") {
      let channel = name.prefix { $0 != "_" }
      if name.hasSuffix("_input"), inputs.contains("\(channel)_average") { continue }
      guard let value = watts(name) else { continue }
      let limit = watts("\(channel)_cap") ?? watts("\(channel)_max")
      snapshot.powers.append(
        PowerReading(
          sensor: "\(Self.name) \(chip) \(name)", domain: domain, watts: value,
          limitWatts: limit.flatMap { $0 > 0 ? $0 : nil }))
    }
    for name in files.names(in: path, prefix: "energy") where name.hasSuffix("_input") {
      guard let micro = files.integer("\(path)/\(name)"), micro >= 0 else { continue }
      snapshot.energies.append(
        EnergyReading(
          sensor: "\(Self.name) \(chip) \(name)", domain: domain, joules: Double(micro) / 1e6,
          rangeJoules: Double(UInt64.max) / 1e6, limitWatts: watts("power1_max").flatMap { $0 > 0 ? $0 : nil }))
    }
  }
}
