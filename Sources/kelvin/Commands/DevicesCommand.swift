import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinMeasurements
import KelvinRuntime
import KelvinThermal

struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Lists the devices of this machine, and why others are absent.")

  @OptionGroup var output: OutputOptions

  private struct Row: Encodable {
    var id: String
    var name: String
    var kind: String
    var driver: String
    var version: String
    var memory: Int
    var resource: String
    var available: Bool
    var reason: String

    init(_ listing: DeviceListing) {
      let info = listing.info
      id = info.id
      name = info.name
      kind = info.kind.rawValue
      driver = info.driver
      version = info.version
      memory = info.memory
      resource = info.resource
      available = listing.device != nil
      reason = listing.reason
    }
  }

  func run() throws {
    let rows = deviceInventory.listings.map(Row.init)
    if output.json { return try printJSON(rows) }
    var table = TextTable(
      .init("DEVICE"), .init("KIND"), .init("NAME", shrinksTo: 16), .init("DRIVER", shrinksTo: 12),
      .init("MEMORY", .right))
    for row in rows where row.available {
      table.add(
        row.id, row.kind, row.name, [row.driver, row.version].filter { !$0.isEmpty }.joined(separator: " "),
        row.memory == .max ? "—" : HumanReadable.bytes(row.memory))
    }
    Console.print(table.text())
    let absent = rows.filter { !$0.available }
    if !absent.isEmpty { Console.print("\nNot on this machine:") }
    for row in absent { Console.print("\(row.id): \(row.reason)".paragraph(width: Console.width - 2, indent: 2)) }
    if rows.contains(where: { $0.available && $0.kind == DeviceInfo.Kind.software.rawValue }) {
      Console.print(
        "\nSoftware devices are drivers that compute on the CPU; they are used only when named, as in --units cpu,vulkan:0."
          .paragraph())
    }
    Console.print("\n" + heat.map { $0.paragraph() }.joined(separator: "\n"))
  }

  /// What knows the machine's heat, and what it says now.
  private var heat: [String] {
    let files = SystemFiles()
    var monitor = ThermalMonitor(files: files, envelope: .assumed(for: MachineDescription(files)))
    let report = monitor.sample(at: 0)
    let state =
      report.source == .model
      ? "Heat: nothing measures it here; reports use the two-pole model of the envelope \"\(monitor.envelope.name)\""
      : "Heat: \(report.state.name), headroom \(HumanReadable.fixed(report.headroom, decimals: 2)) of 1, from"
        + " \(report.sourceDescription)"
    return [state] + report.remarks
  }
}
