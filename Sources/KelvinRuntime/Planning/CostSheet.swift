package import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements
package import KelvinPlanning
import Synchronization

/// The costs of nodes and transfers: measured if a profile has them, otherwise estimated.
package struct CostSheet: Sendable {
  package let profile: MeasuredProfile?
  /// Links that replace the actual ones in a what-if plan.
  package let links: [LinkOverride]
  private let shipped: ShippedProfiles
  private let estimates = Estimates()

  /// Estimates made so far and their bases, by device and thread count. Each takes noticeable time, and every graph
  /// of a model needs both.
  private final class Estimates: Sendable {
    let made = Mutex<[String: DeviceEstimate]>([:])
    let bases = Mutex<[String: EstimateBasis]>([:])
  }

  /// The cost of one node on one device.
  package struct Cost: Sendable, Hashable {
    package var seconds: Double
    package var source: CostSource
    /// The dynamic energy, above idle.
    package var joules: Double
    /// The time that compiling the node and its first run take beyond a warm run.
    package var startSeconds: Double?
  }

  package init(
    _ profile: MeasuredProfile? = nil, links: [LinkOverride] = [], shipped: ShippedProfiles = .standard
  ) {
    self.profile = profile
    self.links = links
    self.shipped = shipped
  }

  /// Returns the same costs with other links.
  ///
  /// - Parameter links: strings that `LinkOverride` parses.
  /// - Throws: `invalidChoice` for a string that cannot be parsed.
  package func with(links: [String], devices: DeviceInventory) throws(RuntimeError) -> CostSheet {
    guard !links.isEmpty else { return self }
    let ids = devices.devices.map(\.info.id)
    return CostSheet(
      profile, links: try links.map { text throws(RuntimeError) in try LinkOverride(text, devices: ids) },
      shipped: shipped)
  }

  /// Returns the profile key of a node's cost: its computation without names, the precision it is computed in, and
  /// the thread count.
  package static func key(_ node: Node, in graph: Graph, computedIn precision: Precision, threads: Int) -> String {
    "\(node.fingerprint(in: graph)) \(precision.rawValue) \(threads)t"
  }

  /// Returns the profile key of a node's cost on a device when `precision` is requested.
  package static func key(
    _ node: Node, in graph: Graph, on device: any Device, asking precision: Precision, threads: Int
  ) -> String {
    let effective = device.effectivePrecision(precision, of: node, in: graph)
    return key(node, in: graph, computedIn: effective, threads: threads)
  }

  /// Returns the work of a node, from which its cost is estimated.
  package static func work(_ node: Node, in graph: Graph) -> NodeWork {
    work(graph.work(of: node), of: node, in: graph)
  }

  /// - Parameter speedup: the factor by which the device multiplies faster than in float32.
  private static func work(_ work: Work, of node: Node, in graph: Graph, speedup: Double = 1) -> NodeWork {
    // An alias moves no data, so only its overhead counts, unless the results need a copy of an input or weight.
    let source = graph[node.inputs.first ?? node.outputs[0]]
    let isAlias =
      node.op is Reshape
      && !(graph.outputs.contains(node.outputs[0])
        && (source.weight != nil || graph.inputs.contains(node.inputs[0])))
    return NodeWork(
      op: family(node, in: graph), operations: work.operations / speedup, bytes: isAlias ? 0 : work.bytes)
  }

  /// Returns the family of a node: operators of one family have kernels of similar efficiency. Convolutions have
  /// three families.
  private static func family(_ node: Node, in graph: Graph) -> String {
    guard let convolution = node.op as? Convolution else { return node.op.name }
    if convolution.isDepthwise(graph.types(node.inputs)) { return "\(Convolution.name) depthwise" }
    return convolution.window.count == 1 ? "\(Convolution.name) 1x1" : Convolution.name
  }

  package func cost(
    _ node: Node, in graph: Graph, on device: any Device, asking precision: Precision, threads: Int
  ) -> Cost {
    let effective = device.effectivePrecision(precision, of: node, in: graph)
    let speedup = device.productSpeedup(at: effective)
    return cost(
      key: Self.key(node, in: graph, computedIn: effective, threads: threads), on: device.info, threads: threads,
      work: Self.work(graph.work(of: node), of: node, in: graph, speedup: speedup),
      onDevice: Self.work(device.work(of: node, in: graph), of: node, in: graph, speedup: speedup))
  }

  /// - Parameters:
  ///   - work: evaluated only if the node was not measured.
  ///   - own: the work that the device counts for an estimate (`Device.work`), if it may be another.
  package func cost(
    key: String, on device: DeviceInfo, threads: Int, work: @autoclosure () -> NodeWork,
    onDevice own: @autoclosure () -> NodeWork? = nil
  ) -> Cost {
    if let measured = profile?.nodes[key]?[device.id] {
      return Cost(
        seconds: measured.seconds, source: .measured,
        joules: measured.joules ?? measured.seconds * power(of: device, threads: threads).dynamicWatts,
        startSeconds: measured.startSeconds ?? device.planningKind.startGuess)
    }
    let estimate = estimate(device, threads: threads)
    let seconds = estimate.seconds(key: key, work(), onDevice: own())
    return Cost(
      seconds: seconds, source: .estimated, joules: seconds * estimate.power.dynamicWatts,
      startSeconds: estimate.startSeconds(key: key))
  }

  /// Returns the basis of a device's estimates.
  package func basis(of device: DeviceInfo, threads: Int) -> EstimateBasis {
    let name = Self.name(device, threads)
    if let known = estimates.bases.withLock({ $0[name] }) { return known }
    let basis = estimate(device, threads: threads).basis
    estimates.bases.withLock { $0[name] = basis }
    return basis
  }

  /// Returns the power of a device: measured, from a shipped profile of its class, or a guess for its kind.
  package func power(of device: DeviceInfo, threads: Int) -> DevicePower {
    profile?.device(device.id)?.power ?? estimate(device, threads: threads).power
  }

  func families(on device: DeviceInfo, threads: Int) -> Set<String>? { estimate(device, threads: threads).families }

  private static func name(_ device: DeviceInfo, _ threads: Int) -> String { "\(device.id) \(threads)" }

  private func estimate(_ device: DeviceInfo, threads: Int) -> DeviceEstimate {
    let name = Self.name(device, threads)
    if let made = estimates.made.withLock({ $0[name] }) { return made }
    let made = DeviceEstimate(device, profile: profile, threads: threads, shipped: shipped)
    estimates.made.withLock { $0[name] = made }
    return made
  }

  package func transfer(
    from source: DeviceInfo, to target: DeviceInfo, threads: Int
  ) -> PlanningProblem.Transfer {
    var transfer = known(from: source, to: target)
    transfer.watts = profile?.transfer(from: source.id, to: target.id)?.watts
    for link in links where link.joins(source.id, target.id) {
      transfer.bytesPerSecond = link.bytesPerSecond
      transfer.latency = link.latency ?? transfer.latency
    }
    return transfer
  }

  private func known(from source: DeviceInfo, to target: DeviceInfo) -> PlanningProblem.Transfer {
    if let measured = profile?.transfer(from: source.id, to: target.id) {
      return .init(
        from: source.id, to: target.id, latency: measured.latency, bytesPerSecond: measured.bytesPerSecond)
    }
    if source.isHost, target.isHost {
      return .init(from: source.id, to: target.id, latency: 0, bytesPerSecond: nil)
    }
    let models = [source, target].filter { !$0.isHost }.map { $0.planningKind.transferGuess }
    return .init(
      from: source.id, to: target.id, latency: models.reduce(0) { $0 + $1.latency },
      bytesPerSecond: models.compactMap(\.bytesPerSecond).min())
  }

  /// Returns the resource of each device. Devices on the same hardware share one, unless measurements show that they
  /// run independently. Devices that were measured to gain nothing from running at the same time also share one.
  package func resources(of devices: [DeviceInfo]) -> [String: String] {
    var groups = devices.map { [$0] }
    for (index, device) in devices.enumerated() {
      for other in devices[..<index] where shareResource(device, other) {
        guard let one = groups.firstIndex(where: { $0.contains { $0.id == device.id } }),
          let two = groups.firstIndex(where: { $0.contains { $0.id == other.id } }), one != two
        else { continue }
        groups[min(one, two)] += groups[max(one, two)]
        groups.remove(at: max(one, two))
      }
    }
    var resources: [String: String] = [:]
    var taken: Set<String> = []
    // The group of the host comes first, so that its resource keeps its name.
    for group in groups.filter({ $0.contains(where: \.isHost) }) + groups.filter({ !$0.contains(where: \.isHost) }) {
      let silicon = group.map(\.resource).min { ($0 != "cpu" ? 1 : 0, $0) < ($1 != "cpu" ? 1 : 0, $1) } ?? ""
      let name = taken.contains(silicon) ? group.map(\.id).min() ?? silicon : silicon
      taken.insert(name)
      for device in group { resources[device.id] = name }
    }
    return resources
  }

  private func shareResource(_ a: DeviceInfo, _ b: DeviceInfo) -> Bool {
    guard let measured = profile?.corun(a.id, b.id) else { return a.resource == b.resource }
    return a.resource == b.resource ? !measured.areIndependent : !measured.overlaps
  }
}

extension DeviceInfo {
  /// Whether the device computes in the host's own memory, on the calling thread.
  package var isHost: Bool { kind == .cpu || kind == .reference }

  package var planningKind: DeviceKind { DeviceKind(rawValue: kind.rawValue) ?? .cpu }

  /// The identity that measurements belong to.
  package var identity: DeviceIdentity {
    DeviceIdentity(
      id: id, name: name, driver: driver, version: version, kind: kind.rawValue, resource: resource,
      memory: memory > 0 ? memory : nil)
  }
}
