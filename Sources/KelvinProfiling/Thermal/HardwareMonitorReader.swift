/// `/sys/class/hwmon/hwmon*`: temperatures in millidegrees, power in microwatts.
/// Source: Linux `Documentation/hwmon/sysfs-interface`.
package struct HardwareMonitorReader: SensorReader {
  package static let name = "hwmon"

  package init() {}

  /// Chips that sit on a processor or a graphics device; everything else (disks, radios, batteries) does not say
  /// whether computing must slow down. The usual limit is for chips that state none: AMD's processors report Tctl
  /// without a limit and slow down at 95 °C or a little below.
  private static let chips: [String: (domain: SensorDomain, usualLimit: Double)] = [
    "coretemp": (.processor, 100), "k10temp": (.processor, 95), "zenpower": (.processor, 95),
    "cpu_thermal": (.processor, 85), "soc_thermal": (.processor, 85), "scmi_sensors": (.processor, 95),
    "amdgpu": (.graphics, 100), "nouveau": (.graphics, 95), "i915": (.graphics, 100), "xe": (.graphics, 100),
    "gpu_thermal": (.graphics, 85),
  ]

  package func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    let folder = "sys/class/hwmon"
    for entry in files.names(in: folder, prefix: "hwmon") {
      let path = "\(folder)/\(entry)"
      guard let chip = files.text("\(path)/name") else { continue }
      let known = Self.chips[chip.lowercased()]
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
      for name in files.names(in: path, prefix: "power")
      where name.hasSuffix("_average") || name.hasSuffix("_input") {
        guard let micro = files.integer("\(path)/\(name)"), (0...10_000_000_000).contains(micro) else { continue }
        snapshot.powers.append(
          PowerReading(sensor: "\(Self.name) \(chip) \(name)", domain: domain, watts: Double(micro) / 1e6))
      }
    }
  }
}
