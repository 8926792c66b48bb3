package import KelvinMeasurements

/// Reads `/sys/class/powercap/intel-rapl:N`: energy counters of processor packages, also for AMD. Sub-zones and the
/// whole-platform zone are left out, so that no energy is counted twice. Only root may read the counters since
/// CVE-2020-8694.
///
/// Source: Linux `Documentation/power/powercap/powercap.rst`.
package struct EnergyCounterReader: SensorReader {
  package static let name = "RAPL"

  package init() {}

  package func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    let folder = "sys/class/powercap"
    for zone in files.names(in: folder, prefix: "intel-rapl:") where Self.isPackage(zone) {
      let path = "\(folder)/\(zone)"
      guard let name = files.text("\(path)/name"), name.hasPrefix("package") else { continue }
      if case .failure(let failure) = files.bytes("\(path)/energy_uj", limit: 4096), failure.isDenied {
        snapshot.remarks.append("\(Self.name) \(name) is readable by root only (CVE-2020-8694)")
        continue
      }
      guard let energy = files.integer("\(path)/energy_uj"), energy >= 0,
        let range = files.integer("\(path)/max_energy_range_uj"), range > 0, energy <= range
      else { continue }
      snapshot.energies.append(
        EnergyReading(
          sensor: "\(Self.name) \(name)", joules: Double(energy) / 1e6, rangeJoules: Double(range) / 1e6,
          limitWatts: Self.longTermLimit(files, path)))
    }
  }

  /// Whether the zone is a package, such as `intel-rapl:0`, and not a part of one, such as `intel-rapl:0:0`.
  private static func isPackage(_ zone: String) -> Bool {
    zone.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1
  }

  private static func longTermLimit(_ files: SystemFiles, _ path: String) -> Double? {
    for index in 0..<4 where files.text("\(path)/constraint_\(index)_name") == "long_term" {
      guard let micro = files.integer("\(path)/constraint_\(index)_power_limit_uw"), micro > 0 else { return nil }
      return Double(micro) / 1e6
    }
    return nil
  }
}
