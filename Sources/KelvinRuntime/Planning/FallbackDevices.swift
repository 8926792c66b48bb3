import KelvinDevices
import KelvinPlanning

/// Devices outside the requested units. A pin may put nodes on them. The host, and then the reference device, run
/// nodes that none of the units supports.
struct FallbackDevices {
  /// The devices: the host first, then the reference device.
  let devices: [any Device]
  private let host: any Device
  /// Why devices must not be used, by id.
  private let excluded: [String: String]
  private let isStrict: Bool
  private let hostRelieves: Bool
  /// The number of nodes that only the excluded host could run.
  private var heldBack = 0

  init(_ devices: [any Device], host: any Device, _ request: PlanRequest) {
    self.devices = devices
    self.host = host
    excluded = request.failedDevices.mapValues { "out: \($0)" }
      .merging(request.exclusions.map { ($0, "excluded") }) { $1 }
    isStrict = request.isStrict
    hostRelieves = request.hostRelieves
  }

  /// Adds to a node its cost on fallback devices, or why they do not run it.
  ///
  /// The reference device runs nodes that neither a unit nor the host supports. It does not replace an excluded host
  /// that supports a node: such a node has no device.
  /// - Parameter consider: adds the node's cost on a device, or why the device cannot run it.
  mutating func serve(
    _ record: inout PlanningProblem.Node, pinned: String?,
    consider: (any Device, inout PlanningProblem.Node) -> Void
  ) {
    var isHeldBack = false
    for device in devices {
      let id = device.info.id
      let isNeeded = record.seconds.isEmpty || (hostRelieves && device === host)
      let helps = isNeeded && !isStrict && !isHeldBack && device.info.isHost
      if let reason = excluded[id] {
        record.unsupported[id] = reason
        guard device === host, record.seconds.isEmpty else { continue }
        var allowed = record
        consider(device, &allowed)
        isHeldBack = allowed.seconds[id] != nil
        if isHeldBack { record.unsupported[id] = "could run it, but is excluded" }
      } else if pinned == id || helps {
        consider(device, &record)
      } else {
        let isReference = device.info.kind == .reference && device !== host
        record.unsupported[id] =
          isReference ? "serves only nodes that no other device runs" : "not among the units asked for"
      }
    }
    if isHeldBack, record.seconds.isEmpty { heldBack += 1 }
  }

  /// Advice for nodes without a device; empty if there is none.
  var remedy: String {
    if heldBack > 0 { return "remove the exclusion of \(host.info.id), or allow another device that runs them" }
    return isStrict ? "without --strict another device would run it" : ""
  }

  /// Returns the reasons why a node has no device: of the requested units, then of an excluded host that supports it.
  func reasons(_ record: PlanningProblem.Node, units: [any Device]) -> [String] {
    var ids = units.map(\.info.id)
    if heldBack > 0, !ids.contains(host.info.id) { ids.append(host.info.id) }
    return ids.map { "\($0): \(record.unsupported[$0] ?? excluded[$0] ?? "excluded")" }
  }
}
