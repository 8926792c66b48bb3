package import KelvinDevices
package import KelvinGraph
package import KelvinPlanning
package import KelvinProfiling

/// What nodes and transfers cost on this machine: measured where a profile has them, estimated where not.
package struct CostSheet: Sendable {
  package var profile: MeasuredProfile?

  package init(_ profile: MeasuredProfile? = nil) { self.profile = profile }

  /// The key under which a node's cost is stored: its work, precision and thread count, names left out.
  package static func key(_ node: Node, in graph: Graph, precision: Precision, threads: Int) -> String {
    "\(node.fingerprint(in: graph)) \(precision.rawValue) \(threads)t"
  }

  package func seconds(
    _ node: Node, in graph: Graph, on device: DeviceInfo, precision: Precision, threads: Int
  ) -> (seconds: Double, source: CostSource) {
    let key = Self.key(node, in: graph, precision: precision, threads: threads)
    if let measured = profile?.nodes[key]?[device.id] { return (measured.seconds, .measured) }
    let work = graph.work(of: node)
    // An alias costs a device nothing but its bookkeeping.
    let bytes = node.op is Reshape ? 0 : work.bytes
    return (
      device.planningKind.guess.estimate(operator: node.op.name, operations: work.operations, bytes: bytes), .estimated
    )
  }

  package func transfer(from: any Device, to: any Device) -> PlanningProblem.Transfer {
    let (source, target) = (from.info, to.info)
    if let measured = profile?.transfers.first(where: { $0.from == source.id && $0.to == target.id }) {
      return .init(from: source.id, to: target.id, latency: measured.latency, bytesPerSecond: measured.bytesPerSecond)
    }
    let isHost = (source.isHost, target.isHost)
    if isHost == (true, true) { return .init(from: source.id, to: target.id, latency: 0, bytesPerSecond: nil) }
    let models = [source, target].filter { !$0.isHost }.map { $0.planningKind.transferGuess }
    return .init(
      from: source.id, to: target.id, latency: models.reduce(0) { $0 + $1.latency },
      bytesPerSecond: models.compactMap(\.bytesPerSecond).min())
  }
}

extension DeviceInfo {
  /// Whether the device computes in the host's own memory, on the calling thread.
  package var isHost: Bool { kind == .cpu || kind == .reference }

  package var planningKind: DeviceKind { DeviceKind(rawValue: kind.rawValue) ?? .cpu }

  /// What measurements are tied to.
  package var identity: DeviceIdentity {
    DeviceIdentity(
      id: id, name: name, driver: driver, version: version, kind: kind.rawValue, resource: resource,
      memory: memory > 0 ? memory : nil)
  }
}
