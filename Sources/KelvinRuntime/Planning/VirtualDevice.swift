package import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements

/// A device that exists only in a profile. It answers which nodes it supports, and cannot run any.
package final class VirtualDevice: Device {
  package let info: DeviceInfo
  package let health = DeviceHealth()
  private let costs: CostSheet
  private let threads: Int
  private let unsupported: [String: String]

  /// - Parameters:
  ///   - identity: a device of the profile of `costs`.
  ///   - threads: the thread count of the costs.
  package init(_ identity: DeviceIdentity, costs: CostSheet, threads: Int) {
    info = DeviceInfo(identity)
    self.costs = costs
    self.threads = threads
    let nodes = (costs.profile?.models.values.map { $0 } ?? []).flatMap(\.nodes)
    unsupported = Dictionary(
      nodes.compactMap { node in node.unsupported?[identity.id].map { (node.key(on: identity.id), $0) } }
    ) { first, _ in first }
  }

  /// Measured nodes are supported, and nodes that the profile lists as unsupported are not. Others are supported on a
  /// host, or if operators of their family were measured.
  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    support(
      key: CostSheet.key(node, in: graph, on: self, asking: precision, threads: threads),
      family: CostSheet.work(node, in: graph).op)
  }

  func support(key: String, family: @autoclosure () -> String) -> Support {
    if costs.profile?.nodes[key]?[info.id] != nil { return .supported }
    if let reason = unsupported[key] { return .unsupported(reason) }
    guard !info.isHost, let families = costs.families(on: info, threads: threads) else { return .supported }
    let family = family()
    return families.contains(family)
      ? .supported : .unsupported("the profile has no \(family) measured on \(info.id) to estimate it by")
  }

  /// Returns the requested precision if the profile has the node measured in it, else `.full`.
  package func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision {
    let key = CostSheet.key(node, in: graph, computedIn: precision, threads: threads)
    return costs.profile?.nodes[key]?[info.id] == nil ? .full : precision
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable { throw absent("compilation") }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer { throw absent("a buffer") }

  private func absent(_ place: String) -> DeviceError {
    DeviceError(
      .unavailable, device: info.id, place: place,
      reason: "only a profile describes it; a what-if plan cannot be run on this machine")
  }
}

extension DeviceInfo {
  /// Creates a device from a profile. Facts that an old document lacks are derived from the id and the name.
  package init(_ identity: DeviceIdentity) {
    let family = identity.id.prefix { $0 != ":" }
    let text = "\(identity.name) \(identity.driver)".lowercased()
    let isSoftware = ["llvmpipe", "pthread", "portable computing", "swiftshader"].contains { text.contains($0) }
    let guess: Kind =
      family == "cpu" ? .cpu : family == "reference" ? .reference : isSoftware ? .software : .discreteGPU
    let kind = identity.kind.flatMap(Kind.init(rawValue:)) ?? guess
    let onHost = kind == .cpu || kind == .reference || kind == .software
    self.init(
      id: identity.id, name: identity.name, kind: kind, driver: identity.driver, version: identity.version,
      memory: identity.memory ?? 0, resource: identity.resource ?? (onHost ? "cpu" : identity.id))
  }
}

extension DeviceInventory {
  /// Creates an inventory of a profile's devices, none of which is present.
  ///
  /// - Throws: `invalidChoice` for a profile without a host.
  package init(whatIf costs: CostSheet, threads: Int) throws(RuntimeError) {
    let devices = (costs.profile?.devices ?? []).map { VirtualDevice($0, costs: costs, threads: threads) }
    guard devices.contains(where: { $0.info.isHost }) else {
      throw .invalidChoice(
        "the profile has no CPU, where inputs start and outputs end; merge it with one that has "
          + "('kelvin profile --merge A B --save C')")
    }
    self.init(devices.map { DeviceListing($0) })
  }
}
