package import KelvinMeasurements

/// Reads `/sys/class/thermal/thermal_zone*`: temperatures in millidegrees and trip points.
///
/// Source: Linux `Documentation/ABI/testing/sysfs-class-thermal`.
package struct ThermalZoneReader: SensorReader {
  package static let name = "thermal zone"

  package init() {}

  package func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    let folder = "sys/class/thermal"
    for zone in files.names(in: folder, prefix: "thermal_zone") {
      let path = "\(folder)/\(zone)"
      guard let milli = files.integer("\(path)/temp"), let celsius = TemperatureReading.plausible(milliCelsius: milli)
      else { continue }
      let type = files.text("\(path)/type") ?? zone
      let domain = Self.domain(type)
      let limit = Self.limit(files, path)
      snapshot.temperatures.append(
        TemperatureReading(
          sensor: "\(Self.name) \(type)", domain: domain, celsius: celsius,
          limitCelsius: limit ?? Self.usualLimit(domain), limitIsAssumed: limit == nil))
    }
  }

  /// Returns the lowest passive trip point, at which the kernel slows the machine down; else the lowest hot, then
  /// critical one.
  private static func limit(_ files: SystemFiles, _ path: String) -> Double? {
    var lowest: [String: Double] = [:]
    for name in files.names(in: path, prefix: "trip_point_") where name.hasSuffix("_type") {
      let trip = name.dropLast("_type".count)
      guard let kind = files.text("\(path)/\(name)"), let milli = files.integer("\(path)/\(trip)_temp"),
        let celsius = TemperatureReading.plausible(milliCelsius: milli), celsius > TemperatureReading.ambientCelsius
      else { continue }
      lowest[kind] = min(lowest[kind] ?? celsius, celsius)
    }
    return lowest["passive"] ?? lowest["hot"] ?? lowest["critical"]
  }

  static func domain(_ type: String) -> SensorDomain {
    let name = type.lowercased()
    if name.contains("skin") || name == "tskn" { return .skin }
    if name.contains("gpu") || name.contains("gfx") { return .graphics }
    let processor = ["cpu", "x86_pkg", "soc", "acpitz", "tcpu", "big", "little", "cluster", "core", "package"]
    return processor.contains { name.contains($0) } ? .processor : .other
  }

  static func usualLimit(_ domain: SensorDomain) -> Double {
    switch domain {
    case .skin: 45
    case .processor, .graphics, .other: 95
    }
  }
}
