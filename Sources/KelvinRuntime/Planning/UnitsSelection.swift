package import KelvinDevices

/// Which devices a model may use. DESIGN: "Compute units".
package enum UnitsSelection: Hashable, Sendable, CustomStringConvertible {
  case all, cpuOnly, cpuAndGPU, cpuAndNeuralEngine
  /// Exactly these, software drivers included.
  case devices([String])

  /// Reads the command line's and Core ML's spellings: `cpu-and-gpu`, `cpuAndGPU`, `cpu,vulkan:0`. Nil for an empty list.
  package init?(_ text: String) {
    switch text.lowercased() {
    case "all": self = .all
    case "cpu-only", "cpuonly": self = .cpuOnly
    case "cpu-and-gpu", "cpuandgpu": self = .cpuAndGPU
    case "cpu-and-neural-engine", "cpuandneuralengine": self = .cpuAndNeuralEngine
    default:
      let ids = text.split(separator: ",").map { String($0).trimmed }.filter { !$0.isEmpty }
      guard !ids.isEmpty else { return nil }
      self = .devices(ids)
    }
  }

  package var description: String {
    switch self {
    case .all: "all"
    case .cpuOnly: "cpu-only"
    case .cpuAndGPU: "cpu-and-gpu"
    case .cpuAndNeuralEngine: "cpu-and-neural-engine"
    case .devices(let ids): ids.joined(separator: ",")
    }
  }

  /// The devices of a machine that the selection allows, in the machine's order.
  ///
  /// - Throws: `unknownDevice` or `deviceAbsent` for one that was named and cannot be had.
  package func devices(in inventory: DeviceInventory) throws(RuntimeError) -> [any Device] {
    switch self {
    case .all: inventory.hardware { $0.kind == .cpu || $0.isGPU || $0.kind == .accelerator }
    case .cpuOnly: inventory.hardware { $0.kind == .cpu }
    case .cpuAndGPU: inventory.hardware { $0.kind == .cpu || $0.isGPU }
    case .cpuAndNeuralEngine: inventory.hardware { $0.kind == .cpu || $0.kind == .accelerator }
    case .devices(let ids): try ids.map { id throws(RuntimeError) in try inventory.device(id) }
    }
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

/// The devices of this machine.
package struct DeviceInventory: Sendable {
  package let listings: [DeviceListing]

  package init(_ listings: [DeviceListing]) { self.listings = listings }

  package var devices: [any Device] { listings.compactMap(\.device) }

  /// - Throws: `unknownDevice` or `deviceAbsent`.
  package func device(_ id: String) throws(RuntimeError) -> any Device {
    if let device = devices.first(where: { $0.info.id == id }) { return device }
    let family = id.prefix { $0 != ":" }
    if let missing = listings.first(where: { $0.device == nil && $0.info.id.hasPrefix(family) }) {
      throw .deviceAbsent(id, reason: missing.reason)
    }
    throw .unknownDevice(id, available: devices.map(\.info.id))
  }

  /// The device whose memory is the host's.
  package var host: any Device {
    guard let host = devices.first(where: { $0.info.kind == .cpu }) ?? devices.first(where: { $0.info.kind == .reference })
    else { preconditionFailure("an inventory has a CPU or the reference device") }
    return host
  }

  package var reference: (any Device)? { devices.first { $0.info.kind == .reference } }

  /// Devices that `accepts` takes, a card that is reached through two interfaces once: through the first listed.
  fileprivate func hardware(_ accepts: (DeviceInfo) -> Bool) -> [any Device] {
    var resources = Set<String>()
    return devices.filter { device in
      guard accepts(device.info) else { return false }
      return device.info.resource == "cpu" || resources.insert(device.info.resource).inserted
    }
  }
}
