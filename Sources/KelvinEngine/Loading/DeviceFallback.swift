package import KelvinDevices
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// What a loaded model does without: devices that are out for every model (`DeviceHealth`), those that had no memory for
/// this one, and nodes that a device's compiler did not take. The one place that decides whether what a device failed at
/// is done elsewhere.
package final class DeviceFallback: Sendable {
  /// What one prediction does without.
  package struct Exclusions: Hashable, Sendable {
    /// Why, by device.
    package var devices: [String: String] = [:]
    /// By device, the nodes that it does not run, and why.
    package var nodes: [String: [String: String]] = [:]

    fileprivate func covers(_ failure: DeviceError) -> Bool {
      guard !failure.nodes.isEmpty else { return devices[failure.device] != nil }
      return failure.nodes.allSatisfy { nodes[failure.device]?[$0] != nil }
    }
  }

  /// A device that had no memory.
  private struct Shortage {
    let failure: DeviceError
    /// The smallest prediction that it had none for.
    var size: Int
    /// What the process held of the device when the model went on without it.
    var held: Int
    /// Bytes taken for lacking where the driver does not say for what.
    private static let unknown = 64 << 20
    /// How often it has had none.
    var count = 1

    /// By how many bytes the process is to hold less of it before it is asked again: what it lacked, and twice as much
    /// each time. What any prediction takes and gives back, the model's own included, is no reason to ask.
    var wanted: Int {
      let (lacked, doublings) = (max(failure.byteCount ?? Self.unknown, 1), min(count - 1, 40))
      return lacked > .max >> doublings ? .max : lacked << doublings
    }
  }

  private struct State {
    var shortages: [Shortage] = []
    var refusals: [DeviceError] = []
    var usualSize = 0
  }

  private let inventory: DeviceInventory
  private let request: PlanRequest
  private let state = Mutex(State())

  /// - Parameter request: what the model is planned for. Under `isStrict` no device is done without.
  init(_ inventory: DeviceInventory, _ request: PlanRequest) {
    self.inventory = inventory
    self.request = request
  }

  /// How large a prediction of the model's usual sizes is: the elements of those inputs whose sizes vary.
  var usualSize: Int {
    get { state.withLock { $0.usualSize } }
    set { state.withLock { $0.usualSize = newValue } }
  }

  /// Why each of the devices failed that are done without at least for some sizes, one failure a device.
  package var failures: [DeviceError] { failures(for: .max) }

  private func failures(for size: Int) -> [DeviceError] {
    guard !request.isStrict else { return [] }
    var failures: [DeviceError] = []
    for device in inventory.openDevices where !device.health.mayFree {
      if let failure = device.health.failure { failures.append(failure) }
    }
    for shortage in state.withLock({ $0.shortages }) where size >= shortage.size {
      let id = shortage.failure.device
      guard !failures.contains(where: { $0.device == id }), shortage.held - held(id) < shortage.wanted else {
        continue
      }
      failures.append(shortage.failure)
    }
    return failures
  }

  private func held(_ id: String) -> Int { inventory.devices(named: [id]).first?.health.heldByteCount ?? 0 }

  /// What a prediction does without.
  ///
  /// - Parameter size: as of `usualSize`, which it is where nil.
  package func exclusions(for size: Int? = nil) -> Exclusions {
    var exclusions = Exclusions()
    for failure in failures(for: size ?? usualSize) {
      exclusions.devices[failure.device] = "\(failure.place): \(failure.reason)"
    }
    for refusal in state.withLock({ $0.refusals }) {
      for node in refusal.nodes { exclusions.nodes[refusal.device, default: [:]][node] = refusal.reason }
    }
    return exclusions
  }

  /// What to say of devices that the model could have used.
  package var remarks: [String] {
    let failures = failures + state.withLock { $0.refusals }
    guard !failures.isEmpty else { return [] }
    let units = Set(((try? request.units.devices(in: inventory)) ?? []).map(\.info.id)).union(request.pins.values)
    return failures.filter { units.contains($0.device) }.map { failure in
      let why = "(\(failure.place): \(failure.reason))"
      switch failure.code {
      case .outOfMemory: return "\(failure.device) has no memory for the model \(why); the model runs without it"
      case .compilation:
        let nodes = failure.nodes.map { "'\($0)'" }.joined(separator: ", ")
        return "\(failure.device) does not compile \(nodes) \(why); other devices run that"
      default: return "\(failure.device) is out \(why); the model runs without it"
      }
    }
  }

  /// Does some work, and once more without each device that is lost, hangs or has no memory on the way, or without nodes
  /// on the one that does not compile them.
  ///
  /// - Parameters:
  ///   - size: of the prediction, as of `usualSize`; nil for that.
  ///   - body: plans anew, each time that it is called, without what is absent.
  /// - Throws: what `body` throws; where a device failed and nothing else may do the work, what it failed at, with why.
  package func withFallback<Result>(
    size: @autoclosure () throws -> Int? = nil, _ body: (Exclusions) throws -> Result
  ) throws -> Result {
    let size = try size()
    var latest: DeviceError?
    while true {
      let exclusions = exclusions(for: size)
      do {
        let result = try body(exclusions)
        if let latest, latest.code == .outOfMemory { noteHeld(latest.device) }
        return result
      } catch {
        guard case RuntimeError.device(let failure) = error, failure.canBeDoneElsewhere, isSpared(failure.device) else {
          throw latest.map { Self.final($0, because: error) } ?? error
        }
        guard !request.isStrict else { throw RuntimeError.device(failure.underStrictness) }
        guard !exclusions.covers(failure) else { throw error }
        takeOut(failure, size ?? usualSize)
        latest = failure
      }
    }
  }

  /// Whether the machine can do without a device: any but the host.
  private func isSpared(_ id: String) -> Bool {
    inventory.openDevices.contains { $0.info.id == id && !$0.info.isHost && $0 !== inventory.host }
  }

  private func takeOut(_ failure: DeviceError, _ size: Int) {
    if failure.takesDeviceOut {
      inventory.devices(named: [failure.device]).first?.health.takeOut(failure)
    } else if failure.code == .outOfMemory {
      let held = held(failure.device)
      state.withLock { state in
        guard let known = state.shortages.firstIndex(where: { $0.failure.device == failure.device }) else {
          state.shortages.append(Shortage(failure: failure, size: size, held: held))
          return
        }
        state.shortages[known].size = min(state.shortages[known].size, size)
        state.shortages[known].held = held
        state.shortages[known].count += 1
      }
    } else {
      state.withLock { if !$0.refusals.contains(failure) { $0.refusals.append(failure) } }
    }
  }

  /// What the failed attempt had taken, and has let go of since, is not memory that the model could have.
  private func noteHeld(_ id: String) {
    let held = held(id)
    state.withLock { state in
      for index in state.shortages.indices where state.shortages[index].failure.device == id {
        state.shortages[index].held = held
      }
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
