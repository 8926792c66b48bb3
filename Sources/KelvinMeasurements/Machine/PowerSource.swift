/// The power source of a machine. Clocks and power limits often differ on battery.
package enum PowerSource: String, Sendable, Hashable, Codable {
  case mains
  case battery
  /// The source is not reported, as on a desktop or in a guest.
  case unknown

  /// Reads `/sys/class/power_supply`. An external supply that is online means mains, whatever the battery does.
  /// Otherwise a discharging battery, or an offline external supply together with a battery, means battery.
  ///
  /// Batteries of peripherals (`scope` Device) and uninterruptible power supplies are ignored.
  ///
  /// Source: Linux `Documentation/ABI/testing/sysfs-class-power`.
  package init(_ files: SystemFiles) {
    let folder = "sys/class/power_supply"
    var (isPlugged, isUnplugged, hasBattery, isDischarging, isCharging) = (false, false, false, false, false)
    for name in files.names(in: folder) {
      func attribute(_ key: String) -> String? { files.text("\(folder)/\(name)/\(key)", limit: 4096) }
      guard let type = attribute("type"), attribute("scope") != "Device" else { continue }
      switch type {
      case "Mains", "USB", "Wireless":
        switch files.integer("\(folder)/\(name)/online") {
        case 0: isUnplugged = true
        // 2 is a supply with a programmable voltage.
        case 1, 2: isPlugged = true
        default: break
        }
      case "Battery" where attribute("present") != "0":
        hasBattery = true
        let status = attribute("status")
        if status == "Discharging" { isDischarging = true }
        if status == "Charging" || status == "Full" || status == "Not charging" { isCharging = true }
      default: break
      }
    }
    if isPlugged {
      self = .mains
    } else if isDischarging || (isUnplugged && hasBattery) {
      self = .battery
    } else {
      self = isCharging ? .mains : .unknown
    }
  }
}
