package import KelvinDevices

/// The devices that a model may use.
package enum UnitsSelection: Hashable, Sendable, CustomStringConvertible {
  case all, cpuOnly, cpuAndGPU, cpuAndNeuralEngine
  /// Exactly these devices, software drivers included.
  case devices([String])

  /// Parses the names of the command line and of Core ML: `cpu-and-gpu`, `cpuAndGPU`, `cpu,vulkan:0`. Nil for an
  /// empty list.
  package init?(_ text: String) {
    let ids = text.split(separator: ",").map { String($0).trimmed }.filter { !$0.isEmpty }
    guard let first = ids.first else { return nil }
    switch ids.count == 1 ? first.lowercased() : "" {
    case "all": self = .all
    case "cpu-only", "cpuonly": self = .cpuOnly
    case "cpu-and-gpu", "cpuandgpu": self = .cpuAndGPU
    case "cpu-and-neural-engine", "cpuandneuralengine": self = .cpuAndNeuralEngine
    default: self = .devices(ids)
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

  /// Returns the devices of a machine that the selection allows, in the machine's order.
  ///
  /// - Throws: `unknownDevice` or `deviceAbsent` for a named device that is not available.
  package func devices(in inventory: DeviceInventory) throws(RuntimeError) -> [any Device] {
    switch self {
    case .all: inventory.hardware([.cpu, .integratedGPU, .discreteGPU, .accelerator])
    case .cpuOnly: inventory.hardware([.cpu])
    case .cpuAndGPU: inventory.hardware([.cpu, .integratedGPU, .discreteGPU])
    case .cpuAndNeuralEngine: inventory.hardware([.cpu, .accelerator])
    case .devices(let ids): try named(ids, in: inventory)
    }
  }
}

extension UnitsSelection {
  /// Returns the selection of every device that at least one selection allows; `all` if the list is empty.
  ///
  /// - Throws: `unknownDevice` or `deviceAbsent` for a named device that is not available.
  package static func union(
    _ selections: [UnitsSelection], in inventory: DeviceInventory
  ) throws(RuntimeError) -> UnitsSelection {
    guard !selections.isEmpty else { return .all }
    var ids: [String] = []
    for selection in selections { ids += try selection.devices(in: inventory).map(\.info.id) }
    return .devices(ids.uniqued)
  }

  private func named(_ ids: [String], in inventory: DeviceInventory) throws(RuntimeError) -> [any Device] {
    guard !ids.isEmpty else {
      throw .invalidChoice("the list of devices is empty; name at least one, as 'kelvin devices' shows them")
    }
    return try ids.uniqued.map { id throws(RuntimeError) in try inventory.device(id) }
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
