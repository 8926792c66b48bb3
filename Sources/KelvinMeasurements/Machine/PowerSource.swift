/// What a machine runs on: on battery, clocks and limits are often others.
package enum PowerSource: String, Sendable, Hashable, Codable {
  case mains
  case battery
  /// Nothing says: a desktop, a guest.
  case unknown

  /// Reads `/sys/class/power_supply`. A supply from outside that is online is mains, whatever a battery does meanwhile;
  /// else a battery that discharges, or a supply from outside that is offline beside a battery, is a battery. Batteries
  /// of mice and headphones (`scope` Device) and a UPS, which stands between the machine and the wall, power nothing
  /// that is measured here.
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
