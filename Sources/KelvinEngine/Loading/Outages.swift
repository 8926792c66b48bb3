package import KelvinDevices
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// The devices that a loaded model does without: those that are out for every model (`DeviceHealth`), and those that had
/// no memory for this one. The one place that decides whether what a device failed at is done elsewhere.
package final class Outages: Sendable {
  private let inventory: DeviceInventory
  private let request: PlanRequest
  private let withoutMemory = Mutex<[DeviceError]>([])

  /// - Parameter request: what the model is planned for. Under `isStrict` no device is done without.
  init(_ inventory: DeviceInventory, _ request: PlanRequest) {
    self.inventory = inventory
    self.request = request
  }

  /// Why each of the devices failed, one failure a device.
  package var failures: [DeviceError] {
    guard !request.isStrict else { return [] }
    var failures = withoutMemory.withLock { $0 }
    for device in inventory.openDevices where !device.health.mayFree {
      guard let failure = device.health.failure, !failures.contains(where: { $0.device == device.info.id }) else {
        continue
      }
      failures.append(failure)
    }
    return failures
  }

  /// The same, by device.
  var reasons: [String: String] {
    Dictionary(failures.map { ($0.device, "\($0.place): \($0.reason)") }) { first, _ in first }
  }

  /// What to say of those that the model could have used.
  package var remarks: [String] {
    let failures = failures
    guard !failures.isEmpty else { return [] }
    let units = Set(((try? request.units.devices(in: inventory)) ?? []).map(\.info.id)).union(request.pins.values)
    return failures.filter { units.contains($0.device) }.map { failure in
      let how = failure.code == .outOfMemory ? "has no memory for the model" : "is out"
      return "\(failure.device) \(how) (\(failure.place): \(failure.reason)); the model runs without it"
    }
  }

  /// Does some work, and once more without each device that is lost, hangs or has no memory on the way.
  ///
  /// - Parameter body: plans anew, each time that it is called, without `failures`.
  /// - Throws: what `body` throws; where a device failed and nothing else may do the work, what it failed at, with why.
  package func outlasting<Result>(_ body: () throws -> Result) throws -> Result {
    var latest: DeviceError?
    while true {
      let known = Set(failures.map(\.device))
      do { return try body() } catch {
        guard case RuntimeError.device(let failure) = error, failure.isOfDevice, isSpared(failure.device) else {
          throw latest.map { Self.final($0, because: error) } ?? error
        }
        guard !request.isStrict else { throw RuntimeError.device(failure.underStrictness) }
        guard !known.contains(failure.device) else { throw error }
        takeOut(failure)
        latest = failure
      }
    }
  }

  /// Whether the machine can do without a device: any but the host.
  private func isSpared(_ id: String) -> Bool {
    inventory.openDevices.contains { $0.info.id == id && !$0.info.isHost && $0 !== inventory.host }
  }

  private func takeOut(_ failure: DeviceError) {
    guard !failure.takesDeviceOut else {
      inventory.devices(named: [failure.device]).first?.health.takeOut(failure)
      return
    }
    withoutMemory.withLock { known in
      if !known.contains(where: { $0.device == failure.device }) { known.append(failure) }
    }
  }

  /// Where planning finds nothing that may do the work, the failure is what is wrong.
  private static func final(_ failure: DeviceError, because error: any Error) -> any Error {
    switch error {
    case RuntimeError.unplaceable, RuntimeError.invalidChoice, RuntimeError.invalidPlan:
      RuntimeError.device(
        DeviceError(
          failure.code, device: failure.device, place: failure.place,
          reason: "\(failure.reason); nothing else may run the model: \(error)"))
    default: error
    }
  }
}

extension DeviceError {
  fileprivate var underStrictness: DeviceError {
    DeviceError(
      code, device: device, place: place, reason: "\(reason); without --strict another device would take its place")
  }
}
