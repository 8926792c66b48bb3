package import KelvinMeasurements

/// The energy counters of a machine: of its processors (RAPL) and of its cards (NVML, hwmon).
package struct EnergyCounters {
  private let files: SystemFiles
  private let readers: [any SensorReader]

  package init(
    files: SystemFiles,
    readers: [any SensorReader] = [EnergyCounterReader(), NVMLReader(), HardwareMonitorReader()]
  ) {
    self.files = files
    self.readers = readers
  }

  /// Returns the counters' readings, restricted to one device's hardware if `resource` is given
  /// (`EnergyReading.counts`).
  package func readings(of resource: String? = nil) -> [EnergyReading] {
    let all = SensorSnapshot.take(files, readers: readers).energies
    return resource.map { resource in all.filter { $0.counts(resource) } } ?? all
  }

  /// Measures the mean watts by sensor over `seconds` of idling; returns an empty result immediately without counters.
  package func watts(over seconds: Double, clock: any MeasurementClock) -> [String: Double] {
    let before = readings()
    guard !before.isEmpty else { return [:] }
    let began = clock.now()
    clock.sleep(until: began + seconds)
    let passed = clock.now() - began
    var watts: [String: Double] = [:]
    for reading in readings() {
      guard let earlier = before.first(where: { $0.sensor == reading.sensor }) else { continue }
      watts[reading.sensor] = reading.watts(since: earlier, seconds: passed)
    }
    return watts
  }
}
