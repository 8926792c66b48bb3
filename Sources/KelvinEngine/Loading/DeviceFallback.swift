import KelvinBasics
package import KelvinDevices
import KelvinPlanning
import KelvinRuntime
import Synchronization

/// The devices and nodes that a loaded model cannot use. These are failed devices (`DeviceHealth`), devices without
/// enough memory for this model, and nodes that a device's compiler rejected. This class alone decides whether failed
/// work is repeated on other devices.
package final class DeviceFallback: Sendable {
  /// The devices and nodes that one prediction does not use.
  package struct Exclusions: Hashable, Sendable {
    /// The reason by device.
    package var devices: [String: String] = [:]
    /// By device, the nodes that it cannot run, and the reason.
    package var nodes: [String: [String: String]] = [:]
    /// By device, the most bytes that its driver gives the model.
    package var memory: [String: Int] = [:]

    fileprivate func covers(_ failure: DeviceError) -> Bool {
      guard !failure.nodes.isEmpty else { return devices[failure.device] != nil }
      return failure.nodes.allSatisfy { nodes[failure.device]?[$0] != nil }
    }
  }

  /// A device that ran out of memory.
  private struct Shortage {
    let failure: DeviceError
    /// The size of the smallest prediction that ran out of memory.
    var size: Int
    /// The bytes that the process held on the device when the model continued without it.
    var held: Int
    /// The missing bytes assumed if the driver does not report a size.
    private static let unknown = 64 << 20
    /// The number of times the device ran out of memory.
    var count = 1
    /// The most bytes that the model may take on the device from then on; nil if the device is skipped.
    var memory: Int?
    /// The number of times that `memory` was lowered.
    var reductions = 0
    private static let mostReductions = 4

    /// Lowers the model's bytes on the device to those that it had when its driver refused more, and by a quarter of the
    /// previous ones at least. With no room left, or after several reductions, the device is skipped.
    ///
    /// - Parameter room: the most bytes that the model had on the device in the failed attempt.
    mutating func lower(to room: Int) {
      let room = min(DeviceCapacities.usable(room), memory.map { $0 / 4 * 3 } ?? .max)
      memory = room > 0 && reductions < Self.mostReductions ? room : nil
      reductions += 1
    }

    /// The bytes that the process must release before the device is tried again: the missing bytes, doubled at each
    /// failure. Memory that a prediction allocates and releases again, the model's own included, is therefore not a
    /// reason to try again.
    var wanted: Int {
      let (lacked, doublings) = (max(failure.byteCount ?? Self.unknown, 1), min(count - 1, 40))
      return lacked > .max >> doublings ? .max : lacked << doublings
    }
  }

  private struct State {
    var shortages: [Shortage] = []
    var refusals: [DeviceError] = []
    /// The failures after which a device was opened anew.
    var renewals: [DeviceError] = []
    var usualSize = 0
  }

  private let inventory: DeviceInventory
  private let request: PlanRequest
  private let state = Mutex(State())

  /// - Parameter request: the model's plan request. Under `isStrict` nothing is excluded.
  init(_ inventory: DeviceInventory, _ request: PlanRequest) {
    self.inventory = inventory
    self.request = request
  }

  /// The size of a prediction with the model's usual sizes: the number of elements of the flexible inputs.
  var usualSize: Int {
    get { state.withLock { $0.usualSize } }
    set { state.withLock { $0.usualSize = newValue } }
  }

  /// The failures of the devices that are excluded for at least some sizes, one for each device.
  package var failures: [DeviceError] { failures(for: .max) }

  private func failures(for size: Int) -> [DeviceError] {
    guard !request.isStrict else { return [] }
    var failures: [DeviceError] = []
    for device in inventory.openDevices where !device.health.mayFree {
      if let failure = device.health.failure { failures.append(failure) }
    }
    for shortage in shortages(for: size) where shortage.memory == nil {
      if !failures.contains(where: { $0.device == shortage.failure.device }) { failures.append(shortage.failure) }
    }
    return failures
  }

  /// Returns the shortages that concern a prediction, of devices that may still lack the memory.
  private func shortages(for size: Int) -> [Shortage] {
    guard !request.isStrict else { return [] }
    return state.withLock { $0.shortages }.filter {
      size >= $0.size && $0.held - held($0.failure.device) < $0.wanted
    }
  }

  private func held(_ id: String) -> Int { inventory.devices(named: [id]).first?.health.heldByteCount ?? 0 }

  /// Returns the devices, nodes and memory that a prediction does not use.
  ///
  /// - Parameter size: the number of elements of the flexible inputs; nil for `usualSize`.
  package func exclusions(for size: Int? = nil) -> Exclusions {
    var exclusions = Exclusions()
    let size = size ?? usualSize
    for failure in failures(for: size) {
      exclusions.devices[failure.device] = "\(failure.place): \(failure.reason)"
    }
    for shortage in shortages(for: size) where exclusions.devices[shortage.failure.device] == nil {
      exclusions.memory[shortage.failure.device] = shortage.memory
    }
    for refusal in state.withLock({ $0.refusals }) {
      for node in refusal.nodes { exclusions.nodes[refusal.device, default: [:]][node] = refusal.reason }
    }
    return exclusions
  }

  /// Remarks for the user about failed devices that the model could have used.
  package var remarks: [String] {
    let (refusals, renewals) = state.withLock { ($0.refusals, $0.renewals) }
    let shortages = shortages(for: .max).filter { $0.memory != nil }
    let failures = failures + refusals + shortages.map(\.failure)
    let renewed = renewals.filter { renewal in !failures.contains { $0.device == renewal.device } }.map {
      "\($0.device) failed (\($0.place): \($0.reason)); it was opened again, and the work was repeated on it"
    }
    guard !failures.isEmpty else { return renewed }
    let units = Set(((try? request.units.devices(in: inventory)) ?? []).map(\.info.id)).union(request.pins.values)
    return renewed
      + failures.filter { units.contains($0.device) }.map { failure in
        let why = "(\(failure.place): \(failure.reason))"
        if let memory = shortages.first(where: { $0.failure == failure })?.memory {
          return "\(failure.device) has less memory than its driver reported \(why); the model takes at most "
            + "\(HumanReadable.bytes(memory)) there, and other devices run the rest"
        }
        switch failure.code {
        case .outOfMemory: return "\(failure.device) has no memory for the model \(why); the model runs without it"
        case .compilation:
          let nodes = failure.nodes.map { "'\($0)'" }.joined(separator: ", ")
          return "\(failure.device) does not compile \(nodes) \(why); other devices run them"
        case .wrong: return "\(failure.device) computes wrongly \(why); the model runs without it"
        default: return "\(failure.device) is unavailable \(why); the model runs without it"
        }
      }
  }

  /// Runs `body`, and again without each device that fails, with less of the memory of a device that runs out of it, or
  /// without nodes that a device does not compile. A device that fails for the first time in the process is opened anew,
  /// and `body` runs again with it.
  ///
  /// - Parameters:
  ///   - size: the number of elements of the flexible inputs; nil for `usualSize`.
  ///   - body: plans without the given exclusions, at every call.
  /// - Throws: the errors of `body`; if a device failed and no other device can do the work, the device's failure
  ///   with the reason.
  package func withFallback<Result>(
    size: @autoclosure () throws -> Int? = nil, _ body: (Exclusions) throws -> Result
  ) throws -> Result {
    let size = try size()
    var latest: DeviceError?
    var renewals = 0
    // Memory that loading held for a time says nothing of later predictions.
    if size == nil { forgetMostHeld() }
    while true {
      let exclusions = exclusions(for: size)
      do {
        let result = try body(exclusions)
        if size == nil { forgetMostHeld() }
        if let latest, latest.code == .outOfMemory { noteHeld(latest.device) }
        return result
      } catch {
        if error is PlanningError, skip(exclusions.memory.keys) { continue }
        guard case RuntimeError.device(let failure) = error, failure.canBeDoneElsewhere, isSpared(failure.device) else {
          throw latest.map { Self.final($0, because: error) } ?? error
        }
        if failure.takesDeviceOut, failure.code != .wrong, renewals < Self.renewalLimit, inventory.renew(failure.device)
        {
          renewals += 1
          state.withLock { if !$0.renewals.contains(failure) { $0.renewals.append(failure) } }
          continue
        }
        guard !request.isStrict else { throw RuntimeError.device(failure.underStrictness) }
        guard !exclusions.covers(failure) else { throw error }
        takeOut(failure, size ?? usualSize)
        latest = failure
      }
    }
  }

  /// How often one piece of work is repeated on devices opened anew, by this or other work.
  private static let renewalLimit = 4

  /// Whether execution can continue without a device: any but the host.
  private func isSpared(_ id: String) -> Bool {
    inventory.openDevices.contains { $0.info.id == id && !$0.info.isHost && $0 !== inventory.host }
  }

  private func takeOut(_ failure: DeviceError, _ size: Int) {
    if failure.takesDeviceOut {
      inventory.devices(named: [failure.device]).first?.health.takeOut(failure)
    } else if failure.code == .outOfMemory {
      guard let health = inventory.devices(named: [failure.device]).first?.health else { return }
      // The failed attempt has released its memory.
      let held = health.heldByteCount
      let room = health.takeMostHeld() - held
      state.withLock { state in
        guard let known = state.shortages.firstIndex(where: { $0.failure.device == failure.device }) else {
          var shortage = Shortage(failure: failure, size: size, held: held)
          shortage.lower(to: room)
          state.shortages.append(shortage)
          return
        }
        state.shortages[known].size = min(state.shortages[known].size, size)
        state.shortages[known].held = held
        if state.shortages[known].memory == nil { state.shortages[known].count += 1 }
        state.shortages[known].lower(to: room)
      }
    } else {
      state.withLock { if !$0.refusals.contains(failure) { $0.refusals.append(failure) } }
    }
  }

  private func forgetMostHeld() { for device in inventory.openDevices { _ = device.health.takeMostHeld() } }

  /// Skips devices from now on, since no plan was found within the memory that they have for the model.
  ///
  /// - Returns: whether there are such devices.
  private func skip(_ ids: some Collection<String>) -> Bool {
    state.withLock { state in
      for index in state.shortages.indices where ids.contains(state.shortages[index].failure.device) {
        state.shortages[index].memory = nil
      }
    }
    return !ids.isEmpty
  }

  /// Measures the memory held on a skipped device again, without the memory that the failed attempt has released since.
  private func noteHeld(_ id: String) {
    let held = held(id)
    state.withLock { state in
      for index in state.shortages.indices
      where state.shortages[index].failure.device == id && state.shortages[index].memory == nil {
        state.shortages[index].held = held
      }
    }
  }

  /// If planning finds no other device, the device's failure is reported.
  private static func final(_ failure: DeviceError, because error: any Error) -> any Error {
    switch error {
    case RuntimeError.unplaceable, RuntimeError.invalidChoice, RuntimeError.invalidPlan:
      RuntimeError.device(
        DeviceError(
          failure.code, device: failure.device, place: failure.place,
          reason: "\(failure.reason); no other device may run the model: \(error)"))
    default: error
    }
  }
}

extension DeviceError {
  fileprivate var underStrictness: DeviceError {
    DeviceError(
      code, device: device, place: place, reason: "\(reason); without --strict another device would run it")
  }
}
