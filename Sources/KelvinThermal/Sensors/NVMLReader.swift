import CKelvinSupport
import Glibc
package import KelvinMeasurements

/// NVIDIA's management library, opened once for the whole process.
package final class NVMLLibrary: @unchecked Sendable {
  // Never written after initialization; the library's functions may be called from any thread.
  private let table: kelvin_nvml

  /// The reason for which the library cannot be used. `isAbsent` if it is not installed, which is normal.
  package struct Failure: Error, Hashable {
    package var isAbsent: Bool
    package var reason: String

    package init(isAbsent: Bool, reason: String) {
      self.isAbsent = isAbsent
      self.reason = reason
    }
  }

  /// The library of this machine.
  package static let shared = Result { () throws(Failure) in try NVMLLibrary(path: "libnvidia-ml.so.1") }

  package init(path: String) throws(Failure) {
    var table = kelvin_nvml()
    var isAbsent: Int32 = 0
    if let reason = kelvin_nvml_open(path, &table, &isAbsent) {
      throw Failure(isAbsent: isAbsent != 0, reason: String(cString: reason))
    }
    self.table = table
    try start()
  }

  /// Creates a library whose functions `find` looks up by name.
  package init(
    find: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?,
    context: UnsafeMutableRawPointer?
  ) throws(Failure) {
    var table = kelvin_nvml()
    if let reason = kelvin_nvml_load(&table, find, context) {
      throw Failure(isAbsent: false, reason: String(cString: reason))
    }
    self.table = table
    try start()
  }

  private func start() throws(Failure) {
    if let reason = failure(table.nvmlInit_v2?() ?? -1) { throw Failure(isAbsent: false, reason: reason) }
  }

  /// Returns nil for success, else the library's error string.
  private func failure(_ status: Int32) -> String? {
    guard status != KELVIN_NVML_SUCCESS else { return nil }
    return table.nvmlErrorString?(status).map { String(cString: $0) } ?? "status \(status)"
  }

  fileprivate func read(into snapshot: inout SensorSnapshot) {
    var count: UInt32 = 0
    if let reason = failure(table.nvmlDeviceGetCount_v2?(&count) ?? -1) {
      return snapshot.remarks.append("NVML: the cards cannot be counted: \(reason)")
    }
    for index in 0..<min(count, 64) {
      var handle: kelvin_nvml_device?
      let status = table.nvmlDeviceGetHandleByIndex_v2?(index, &handle) ?? -1
      guard failure(status) == nil, let handle else {
        snapshot.remarks.append("NVML: card \(index): \(failure(status) ?? "no handle")")
        continue
      }
      read(handle, index: index, into: &snapshot)
    }
  }

  private func read(_ card: kelvin_nvml_device, index: UInt32, into snapshot: inout SensorSnapshot) {
    let name = text { table.nvmlDeviceGetName?(card, $0, $1) } ?? "card"
    let sensor = "NVML \(name) (\(index))"
    let resource = text { table.nvmlDeviceGetUUID?(card, $0, $1) }.map { HardwareIdentity($0) }
    var celsius: UInt32 = 0
    if let reason = failure(table.nvmlDeviceGetTemperature?(card, Int32(KELVIN_NVML_TEMPERATURE_GPU), &celsius) ?? -1) {
      snapshot.remarks.append("\(sensor): no temperature: \(reason)")
    } else if let plausible = TemperatureReading.plausible(milliCelsius: Int(celsius) * 1000) {
      let limit = limit(of: card)
      snapshot.temperatures.append(
        TemperatureReading(
          sensor: sensor, domain: .graphics, celsius: plausible, limitCelsius: limit ?? 90, limitIsAssumed: limit == nil
        ))
    }
    let limitWatts = number { table.nvmlDeviceGetEnforcedPowerLimit?(card, $0) }.map { Double($0) / 1000 }
    if let milliwatts = number({ table.nvmlDeviceGetPowerUsage?(card, $0) }), milliwatts < 10_000_000 {
      snapshot.powers.append(
        PowerReading(
          sensor: sensor, domain: .graphics, watts: Double(milliwatts) / 1000, limitWatts: limitWatts,
          resource: resource))
    }
    var millijoules: UInt64 = 0
    if let status = table.nvmlDeviceGetTotalEnergyConsumption?(card, &millijoules), status == KELVIN_NVML_SUCCESS {
      snapshot.energies.append(
        EnergyReading(
          sensor: sensor, domain: .graphics, joules: Double(millijoules) / 1000,
          rangeJoules: Double(UInt64.max) / 1000, limitWatts: limitWatts, resource: resource))
    }
    let megahertz = number { table.nvmlDeviceGetClockInfo?(card, Int32(KELVIN_NVML_CLOCK_SM), $0) }
    let highest = number { table.nvmlDeviceGetMaxClockInfo?(card, Int32(KELVIN_NVML_CLOCK_SM), $0) }
    if let megahertz, let highest, highest > 0, megahertz <= 100_000 {
      snapshot.clocks.append(
        ClockReading(
          sensor: sensor, domain: .graphics, hertz: Double(megahertz) * 1e6, highestHertz: Double(highest) * 1e6))
    }
    snapshot.throttleReasons += reasons(card).map { ThrottleReason(sensor: sensor, reason: $0.name, isHeat: $0.isHeat) }
  }

  /// Returns the maximum temperature of the card in degrees Celsius, or the temperature at which it slows down.
  private func limit(of card: kelvin_nvml_device) -> Double? {
    for threshold in [KELVIN_NVML_THRESHOLD_GPU_MAX, KELVIN_NVML_THRESHOLD_SLOWDOWN] {
      let celsius = number { table.nvmlDeviceGetTemperatureThreshold?(card, Int32(threshold), $0) }
      guard let celsius, let plausible = TemperatureReading.plausible(milliCelsius: Int(celsius) * 1000),
        plausible > TemperatureReading.ambientCelsius
      else { continue }
      return plausible
    }
    return nil
  }

  private func reasons(_ card: kelvin_nvml_device) -> [(name: String, isHeat: Bool)] {
    var bits: UInt64 = 0
    let ask = table.nvmlDeviceGetCurrentClocksEventReasons ?? table.nvmlDeviceGetCurrentClocksThrottleReasons
    guard let ask, ask(card, &bits) == KELVIN_NVML_SUCCESS else { return [] }
    let known: [(bit: UInt64, name: String, isHeat: Bool)] = [
      (UInt64(KELVIN_NVML_SW_THERMAL), "software thermal slowdown", true),
      (UInt64(KELVIN_NVML_HW_THERMAL), "hardware thermal slowdown", true),
      (UInt64(KELVIN_NVML_HW_SLOWDOWN), "hardware slowdown", true),
      (UInt64(KELVIN_NVML_POWER_BRAKE), "power brake", false),
      (UInt64(KELVIN_NVML_SW_POWER_CAP), "power cap", false),
    ]
    return known.filter { bits & $0.bit != 0 }.map { ($0.name, $0.isHeat) }
  }

  private func number(_ ask: (UnsafeMutablePointer<UInt32>) -> Int32?) -> UInt32? {
    var value: UInt32 = 0
    return ask(&value) == Int32(KELVIN_NVML_SUCCESS) ? value : nil
  }

  private func text(_ ask: (UnsafeMutablePointer<CChar>, UInt32) -> Int32?) -> String? {
    var buffer = [CChar](repeating: 0, count: 128)
    guard ask(&buffer, UInt32(buffer.count)) == Int32(KELVIN_NVML_SUCCESS) else { return nil }
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Reads NVIDIA cards with NVML: temperature, power, energy, clock and the reasons for a lowered clock.
///
/// Source: NVIDIA, "NVML API Reference Guide".
package struct NVMLReader: SensorReader {
  package static let name = "NVML"

  private let library: NVMLLibrary?

  /// - Parameter library: nil for the machine's own, which is used only if the files are the machine's too.
  package init(library: NVMLLibrary? = nil) { self.library = library }

  package func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    if let library { return library.read(into: &snapshot) }
    guard files.isMachine else { return }
    switch NVMLLibrary.shared {
    case .success(let library): library.read(into: &snapshot)
    case .failure(let failure):
      if !failure.isAbsent { snapshot.remarks.append("NVML cannot be used: \(failure.reason)") }
    }
  }
}
