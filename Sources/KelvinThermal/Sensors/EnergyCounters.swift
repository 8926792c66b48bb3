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

  /// What they have counted, of one silicon where `resource` is given (`EnergyReading.counts`).
  package func readings(of resource: String? = nil) -> [EnergyReading] {
    let all = SensorSnapshot.take(files, readers: readers).energies
    return resource.map { resource in all.filter { $0.counts(resource) } } ?? all
  }

  /// Mean watts by sensor over so many seconds, while nothing is asked for; empty at once where there are no counters.
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
