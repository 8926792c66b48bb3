import KelvinDevices
import KelvinPlanning

/// The devices outside the units asked for: a pin may put nodes on them, and the host, then the reference device, serve
/// nodes that none of the units runs.
struct FallbackDevices {
  /// The host first, then the reference device.
  let devices: [any Device]
  private let host: any Device
  /// Why devices may not be used, by id.
  private let excluded: [String: String]
  private let isStrict: Bool
  /// How many nodes the host could run, were it not excluded.
  private var heldBack = 0

  init(_ devices: [any Device], host: any Device, _ request: PlanRequest) {
    self.devices = devices
    self.host = host
    excluded = request.failedDevices.mapValues { "out: \($0)" }
      .merging(request.exclusions.map { ($0, "excluded") }) { $1 }
    isStrict = request.isStrict
  }

  /// Adds to a node what it costs on helpers, or why they do not serve it.
  ///
  /// The reference device serves what neither a unit nor the host can run. A host that can and is excluded is not stood
  /// in for: the node stays without a device.
  /// - Parameter consider: adds what the node costs on a device, or why it cannot run there.
  mutating func serve(
    _ record: inout PlanningProblem.Node, pinned: String?,
    consider: (any Device, inout PlanningProblem.Node) -> Void
  ) {
    var isHeldBack = false
    for device in devices {
      let id = device.info.id
      let helps = record.seconds.isEmpty && !isStrict && !isHeldBack && device.info.isHost
      if let reason = excluded[id] {
        record.unsupported[id] = reason
        guard device === host, record.seconds.isEmpty else { continue }
        var allowed = record
        consider(device, &allowed)
        isHeldBack = allowed.seconds[id] != nil
        if isHeldBack { record.unsupported[id] = "could run it, and is excluded" }
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

  /// What would help nodes that are left without a device; empty where nothing would.
  var remedy: String {
    if heldBack > 0 { return "take back the exclusion of \(host.info.id), or allow another device that runs them" }
    return isStrict ? "without --strict another device would help out" : ""
  }

  /// Reasons of a node without a device: of the units as they were asked for, then of a host that is held back.
  func reasons(_ record: PlanningProblem.Node, units: [any Device]) -> [String] {
    var ids = units.map(\.info.id)
    if heldBack > 0, !ids.contains(host.info.id) { ids.append(host.info.id) }
    return ids.map { "\($0): \(record.unsupported[$0] ?? excluded[$0] ?? "excluded")" }
  }
}
