import KelvinBasics
package import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinMeasurements
import KelvinRuntime
import KelvinThermal

/// The devices of this machine, the reasons why others are missing, and the sources of thermal data: the output of
/// `kelvin devices`.
package struct DeviceReport {
  /// One device, available or missing.
  package struct Row: Encodable, Sendable {
    package let id: String
    package let name: String
    package let kind: String
    package let driver: String
    package let version: String
    /// The memory in bytes.
    package let memory: Int
    /// The bytes of it that this process can still allocate, as far as the driver tells; nil if the device is missing.
    package let freeMemory: Int?
    package let resource: String
    package let available: Bool
    /// The reason why the device is missing and a remedy; empty if it is available.
    package let reason: String
    /// The self-tests that its driver failed. Nodes that need them run on other devices.
    package let failedSelfTests: [String]
    /// The default number of threads; nil for devices other than the processor.
    package let threads: Int?
    /// The reason why it is less than the number of processors; nil if it is not.
    package let threadLimit: String?
    /// The rates of the processor's units that multiply and add; empty for other devices.
    package let productRates: [ProductRate]
    /// The reason why one of these units is not used; nil if there is none.
    package let productFault: String?
    /// Whether the device computes on the CPU, and is used only if it is named.
    package var isSoftware: Bool { kind == DeviceInfo.Kind.software.rawValue }

    /// The rates in words; nil if there are none.
    package var rates: String? {
      guard !productRates.isEmpty else { return nil }
      let rates = productRates.map { rate in
        "\(rate.operands) \(HumanReadable.fixed(rate.operationsPerSecond / 1e9, decimals: 0))"
      }
      let line = "Products on \(id), one thread, billion operations per second: " + rates.joined(separator: ", ")
      return productFault.map { "\(line). \($0)" } ?? line
    }

    init(_ listing: DeviceListing, _ cache: CompiledCache?) {
      let info = listing.info
      id = info.id
      name = info.name
      kind = info.kind.rawValue
      driver = info.driver
      version = info.version
      memory = info.memory
      freeMemory = listing.device?.freeMemory
      resource = info.resource
      available = listing.device != nil
      reason = listing.reason
      if let cache, let device = listing.device {
        device.recall(cache.blobs(info))
        device.trust?.recall(cache.blobs(info))
      }
      failedSelfTests = listing.device?.trust?.faults ?? []
      let isProcessor = info.kind == .cpu
      threads = isProcessor ? defaultThreadCount : nil
      threadLimit = isProcessor ? MachineProcessors().limit : nil
      productRates = listing.device?.productRates ?? []
      productFault = listing.device?.productFault
    }
  }

  package let rows: [Row]

  /// The available devices, including the reference device.
  package static var devices: [any Device] { deviceInventory.devices }

  /// Opens every available driver. Self-test results of earlier processes are read from the user's cache.
  package init() {
    let cache = CacheDirectory.standard.map { CompiledCache(CacheDirectory($0), kelvinVersion: kelvinVersion) }
    rows = deviceInventory.listings.map { Row($0, cache) }
  }

  /// Returns the default number of threads, if it is less than the number of processors, and the reason.
  package static func threads() -> String? {
    let processors = MachineProcessors()
    return processors.limit.map { limit in
      "Threads: \(processors.usable) of \(processors.online) processors by default, because of this process's \(limit);"
        + " --threads sets another number"
    }
  }

  /// Returns the sources of thermal data and their current readings as lines.
  package static func heat() -> [String] {
    let files = SystemFiles()
    var monitor = KelvinThermal.ThermalMonitor(files: files, envelope: .assumed(for: MachineDescription(files)))
    let report = monitor.sample(at: 0)
    let state =
      report.source == .model
      ? "Heat: no sensor measures it here; reports use the two-pole model of the envelope \"\(monitor.envelope.name)\""
      : "Heat: \(report.state.name), headroom \(HumanReadable.fixed(report.headroom, decimals: 2)) of 1, from"
        + " \(report.sourceDescription)"
    return [state] + report.remarks
  }
}
