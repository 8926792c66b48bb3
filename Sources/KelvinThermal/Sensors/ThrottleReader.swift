package import KelvinMeasurements

/// Reads `/sys/devices/system/cpu/cpu*/thermal_throttle` event counts and `cpufreq` clocks.
package struct ThrottleReader: SensorReader {
  package static let name = "throttle counter"

  /// A limit of event counts that keeps sums far from overflow.
  private static let most = 1 << 48

  package init() {}

  package func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    let folder = "sys/devices/system/cpu"
    var core = 0
    var package = 0
    var counted = false
    var current = 0
    var highest = 0
    for cpu in files.names(in: folder, prefix: "cpu") where cpu.dropFirst(3).allSatisfy(\.isNumber) && cpu != "cpu" {
      let throttle = "\(folder)/\(cpu)/thermal_throttle"
      if let count = files.integer("\(throttle)/core_throttle_count"), count >= 0 {
        core = min(core + min(count, Self.most), Self.most)
        counted = true
      }
      if let count = files.integer("\(throttle)/package_throttle_count"), count >= 0 {
        package = min(package + min(count, Self.most), Self.most)
        counted = true
      }
      current = max(current, files.integer("\(folder)/\(cpu)/cpufreq/scaling_cur_freq") ?? 0)
      highest = max(highest, files.integer("\(folder)/\(cpu)/cpufreq/cpuinfo_max_freq") ?? 0)
    }
    if counted { snapshot.throttle = ThrottleReading(coreEvents: core, packageEvents: package) }
    if (1...100_000_000).contains(current), highest > 0 {
      snapshot.clocks.append(
        ClockReading(
          sensor: "cpufreq", domain: .processor, hertz: Double(current) * 1e3, highestHertz: Double(highest) * 1e3))
    }
  }
}
