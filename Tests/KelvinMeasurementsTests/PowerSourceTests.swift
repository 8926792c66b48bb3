import KelvinMeasurements
import TestSupport
import Testing

@Suite("Mains or battery")
struct PowerSourceTests {
  /// Supplies by name, each with its files.
  private func source(_ supplies: [String: [String: String]]) -> PowerSource {
    var layout: [String: String] = [:]
    for (name, files) in supplies {
      for (file, text) in files { layout["sys/class/power_supply/\(name)/\(file)"] = text }
    }
    return FixtureTree.reading(layout) { PowerSource($0) }
  }

  private let plugged = ["type": "Mains\n", "online": "1\n"]
  private let unplugged = ["type": "Mains\n", "online": "0\n"]
  private let discharging = ["type": "Battery\n", "status": "Discharging\n", "present": "1\n"]
  private let mouse = ["type": "Battery\n", "status": "Discharging\n", "scope": "Device\n"]

  @Test("an online supply is mains, and an offline supply with a battery is a battery")
  func laptops() {
    #expect(source(["AC": plugged, "BAT0": ["type": "Battery\n", "status": "Charging\n"]]) == .mains)
    #expect(source(["AC": plugged, "BAT0": discharging]) == .mains)
    #expect(source(["AC": unplugged, "BAT0": discharging]) == .battery)
    #expect(source(["AC": unplugged, "BAT0": ["type": "Battery\n", "status": "Unknown\n"]]) == .battery)
    #expect(source(["BAT0": discharging]) == .battery)
    #expect(source(["BAT0": ["type": "Battery\n", "status": "Full\n"]]) == .mains)
    #expect(source(["ucsi": ["type": "USB\n", "online": "1\n"], "BAT0": discharging, "AC": unplugged]) == .mains)
  }

  @Test("a mouse, a UPS and an empty bay are not power sources")
  func strangers() {
    #expect(source(["hid-mouse": mouse]) == .unknown)
    #expect(source(["AC": plugged, "hid-mouse": mouse]) == .mains)
    #expect(source(["AC": unplugged, "hid-mouse": mouse]) == .unknown)
    #expect(source(["ups": ["type": "UPS\n", "status": "Discharging\n", "online": "1\n"]]) == .unknown)
    #expect(source(["AC": unplugged, "BAT1": ["type": "Battery\n", "present": "0\n"]]) == .unknown)
  }

  @Test(
    "invalid files give no power source",
    arguments: ["", "\u{0}", "99999999999999999999", "-1", "yes", "\u{FFFD}", String(repeating: "1", count: 5000)])
  func rubbish(text: String) {
    #expect(source([:]) == .unknown)
    #expect(source(["AC": ["type": "Mains", "online": text]]) == .unknown)
    #expect(source(["AC": ["type": text, "online": "1"]]) == .unknown)
    #expect(source(["BAT0": ["type": "Battery", "status": text]]) == .unknown)
    #expect(source(["AC": ["online": "1"], "BAT0": ["status": "Discharging"]]) == .unknown)
  }

  @Test("summaries name the battery, and reports name every recorded source")
  func summaries() throws {
    var machine = FixtureTree.reading(Machines.intelLaptop) { MachineDescription($0) }
    let plain = machine.summary
    #expect(machine.powerSource == .unknown)
    #expect(machine.reportSummary == plain + ", power source unknown")
    machine.powerSource = .battery
    #expect(machine.summary == plain + ", on battery")
    #expect(machine.reportSummary == machine.summary)
    machine.powerSource = .mains
    #expect((machine.summary, machine.reportSummary) == (plain, plain + ", on mains"))
    machine.powerSource = nil
    #expect(machine.reportSummary == plain)
  }
}
