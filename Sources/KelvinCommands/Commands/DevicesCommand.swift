import ArgumentParser
import Kelvin
import KelvinBasics

struct DevicesCommand: ParsableCommand, LimitedCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "List the devices of this machine, and why others are not available.",
    usage: "kelvin devices [<options>]")

  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    if output.json { return printJSON(try ComputeDevice.report()) }
    let rows = DeviceReport().rows
    var table = TextTable(
      .init("DEVICE"), .init("KIND"), .init("NAME", shrinksTo: 16), .init("DRIVER", shrinksTo: 12),
      .init("MEMORY", .right))
    for row in rows where row.available {
      table.add(
        row.id, row.kind, row.name, [row.driver, row.version].filter { !$0.isEmpty }.joined(separator: " "),
        Self.memory(row))
    }
    Console.print(table.text())
    let faults = rows.flatMap { row in row.failedSelfTests.map { "\(row.id): \($0)" } }
    if !faults.isEmpty {
      Console.print("\nFailed self-tests; other devices run these kernels until the driver changes:")
    }
    for fault in faults { Console.print(fault.paragraph(width: Console.width - 2, indent: 2)) }
    let absent = rows.filter { !$0.available }
    if !absent.isEmpty { Console.print("\nNot available on this machine:") }
    for row in absent { Console.print("\(row.id): \(row.reason)".paragraph(width: Console.width - 2, indent: 2)) }
    if rows.contains(where: { $0.available && $0.isSoftware }) {
      let meaning =
        "Software devices are drivers that compute on the CPU; they are used only when named, as in --units cpu,vulkan:0."
      Console.print("\n" + meaning.paragraph())
    }
    for rates in rows.compactMap(\.rates) { Console.print("\n" + rates.paragraph()) }
    if let threads = DeviceReport.threads() { Console.print("\n" + threads.paragraph()) }
    Console.print("\n" + DeviceReport.heat().map { $0.paragraph() }.joined(separator: "\n"))
  }

  private static func memory(_ row: DeviceReport.Row) -> String {
    guard row.memory != .max else { return "—" }
    let memory = HumanReadable.bytes(row.memory)
    guard let free = row.freeMemory, free < row.memory else { return memory }
    return "\(HumanReadable.bytes(free)) free of \(memory)"
  }
}
