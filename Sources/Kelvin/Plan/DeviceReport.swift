import KelvinBasics
package import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinMeasurements
import KelvinRuntime
import KelvinThermal

/// The devices of this machine and why others are absent, and what knows its heat: what `kelvin devices` shows.
package struct DeviceReport {
  /// One device, present or absent.
  package struct Row: Encodable, Sendable {
    package let id: String
    package let name: String
    package let kind: String
    package let driver: String
    package let version: String
    /// Bytes.
    package let memory: Int
    package let resource: String
    package let available: Bool
    /// Why it is absent and what would help; empty where it is present.
    package let reason: String
    /// What its driver has been found to compute wrongly: nodes that need it run on other devices.
    package let failedSelfTests: [String]
    /// Whether it computes on the CPU, and is used only when it is named.
    package var isSoftware: Bool { kind == DeviceInfo.Kind.software.rawValue }

    init(_ listing: DeviceListing, _ cache: CompiledCache?) {
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
      if let cache, let trust = listing.device?.trust { trust.recall(cache.blobs(info)) }
      failedSelfTests = listing.device?.trust?.faults ?? []
    }
  }

  package let rows: [Row]

  /// The devices that are here, the reference device too.
  package static var devices: [any Device] { deviceInventory.devices }

  /// Opens every driver there is. What earlier processes found out about drivers is read from the user's cache.
  package init() {
    let cache = CacheDirectory.standard.map { CompiledCache(CacheDirectory($0), kelvinVersion: kelvinVersion) }
    rows = deviceInventory.listings.map { Row($0, cache) }
  }

  /// What knows the machine's heat, and what it says now, in lines.
  package static func heat() -> [String] {
    let files = SystemFiles()
    var monitor = KelvinThermal.ThermalMonitor(files: files, envelope: .assumed(for: MachineDescription(files)))
    let report = monitor.sample(at: 0)
    let state =
      report.source == .model
      ? "Heat: nothing measures it here; reports use the two-pole model of the envelope \"\(monitor.envelope.name)\""
      : "Heat: \(report.state.name), headroom \(HumanReadable.fixed(report.headroom, decimals: 2)) of 1, from"
        + " \(report.sourceDescription)"
    return [state] + report.remarks
  }
}
