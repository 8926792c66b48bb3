import KelvinBasics

/// Why a machine could not be calibrated.
package enum CalibrationError: Error, Hashable, Sendable {
  /// No sensor measures the temperature of a processor or graphics device.
  case noTemperature(measuresPower: Bool, isVirtualised: Bool)
  /// The sensor did not answer for too long.
  case sensorLost(sensor: String, share: Double)
  /// Full load did not raise the measured temperature enough, in degrees Celsius.
  case unmoved(sensor: String, atRest: Double, atLoad: Double, needed: Double)
  /// The load was too short: seconds of load that were recorded and that are needed.
  case tooShort(seconds: Double, needed: Double, reason: String)
  /// The clock was lowered at the limit, and no sensor measures the resulting power.
  case throttled(sensor: String, celsius: Double, limit: Double)
  /// The temperature does not follow the model of two parallel heat paths; `residual` in kelvin if there is a fit.
  case otherShape(sensor: String, residual: Double?)
}

extension CalibrationError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noTemperature(let measuresPower, let isVirtualised):
      "this machine cannot be calibrated: no temperature of a processor or graphics card is shown below"
        + " /sys/class/hwmon or /sys/class/thermal"
        + (measuresPower ? "; power is measured, but does not show how heat is stored" : "")
        + (isVirtualised
          ? "; a virtual machine cannot read its host's sensors: calibrate on the host and give the file to --envelope"
          : "; load the driver of the sensor (coretemp, k10temp), or name a class of machine with --envelope")
    case .sensorLost(let sensor, let share):
      "\(sensor) gave no temperature in \(HumanReadable.percent(share, decimals: 0)) of the readings, expected at most"
        + " \(HumanReadable.percent(CalibrationRecording.maximumMissing, decimals: 0)); calibrate again"
    case .unmoved(let sensor, let atRest, let atLoad, let needed):
      "\(sensor) showed \(HumanReadable.fixed(atRest, decimals: 1)) °C at rest and"
        + " \(HumanReadable.fixed(atLoad, decimals: 1)) °C under full load, expected a rise of at least"
        + " \(HumanReadable.fixed(needed, decimals: 1)) °C; let the machine cool down first, or load more of it with"
        + " another --units"
    case .tooShort(let seconds, let needed, let reason):
      "\(HumanReadable.seconds(seconds)) of load are too short to calibrate: \(reason);"
        + " ask for at least --duration \(Int(needed.rounded(.up)))"
    case .throttled(let sensor, let celsius, let limit):
      "\(sensor) reached \(HumanReadable.fixed(celsius, decimals: 1)) °C of \(HumanReadable.fixed(limit, decimals: 0))"
        + " and nothing measures power, so the load's power from then on is not known; calibrate as root, who"
        + " may read the energy counter, or load less of the machine with another --units"
    case .otherShape(let sensor, let residual):
      "\(sensor) did not follow the load as two heat paths do"
        + (residual.map { " (\(HumanReadable.significant($0)) °C off in the mean)" } ?? "")
        + "; the cause may be a fan that changed its speed, or other work: calibrate again on a quiet machine"
    }
  }
}
