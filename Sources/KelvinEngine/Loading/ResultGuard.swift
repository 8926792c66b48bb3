import KelvinDevices
package import KelvinRuntime
import Synchronization

/// The checks of the devices that the predictions of one loaded model use, and the doubtful predictions. Only devices
/// with a driver are checked.
package final class ResultGuard: Sendable {
  private let isOn: Bool
  private let inventory: DeviceInventory
  private let account = PredictionAccount()
  private let canaries = Mutex<[ObjectIdentifier: CanaryCheck]>([:])

  package let fallback: DeviceFallback

  private let watchdog: Watchdog

  init(_ inventory: DeviceInventory, _ fallback: DeviceFallback, _ options: LoadOptions) {
    self.inventory = inventory
    watchdog = options.watchdog
    self.fallback = fallback
    isOn = options.checksResults
    Self.kept.withLock { $0?.append(self) }
  }

  private static let kept = Mutex<[ResultGuard]?>(nil)

  /// Keeps all that are made from now on, for a process that reports at its end.
  package static func keepAll() { kept.withLock { $0 = $0 ?? [] } }

  /// The objects that were kept.
  package static var all: [ResultGuard] { kept.withLock { $0 ?? [] } }

  /// Records a prediction before its results are returned, and checks its devices if a check is due.
  ///
  /// - Parameters:
  ///   - devices: the devices other than the host that took part.
  ///   - seconds: how long the devices worked.
  /// - Throws: `device` if a device computes wrongly, or has failed; the results must not be returned then.
  func ended(on devices: [any Device], seconds: Double) throws(RuntimeError) {
    let number = account.next()
    guard isOn, !devices.isEmpty else { return }
    var known: Set<String> = []
    for device in devices where device.trust != nil && known.insert(device.info.id).inserted {
      do throws(DeviceError) {
        try device.health.results.ended(number, of: account, seconds: seconds) { () throws(DeviceError) in
          try check(device)
        }
      } catch { throw .device(error) }
    }
  }

  private func check(_ device: any Device) throws(DeviceError) -> Double {
    let canary = canaries.withLock { canaries in
      let known = canaries[ObjectIdentifier(device)] ?? CanaryCheck(device, watchdog)
      canaries[ObjectIdentifier(device)] = known
      return known
    }
    do throws(DeviceError) { return try canary.run() } catch {
      if error.code == .wrong { device.health.takeOut(error) }
      throw error
    }
  }

  /// Checks every device that has predicted since its latest check.
  ///
  /// - Throws: `device` if one computes wrongly or has failed.
  package func checkLast() throws(RuntimeError) {
    guard isOn else { return }
    var failure: DeviceError?
    for device in inventory.openDevices where device.trust != nil && device.health.mayFree {
      do throws(DeviceError) {
        try device.health.results.checkLast { () throws(DeviceError) in try check(device) }
      } catch { failure = failure ?? error }
    }
    if let failure { throw .device(failure) }
  }

  /// The number of predictions that have ended.
  package var count: Int { account.count }

  /// The numbers of the predictions whose results may be wrong, from 1.
  package var doubtful: [ClosedRange<Int>] { account.doubts.map(\.numbers) }

  /// Remarks for the user about doubtful predictions.
  package var remarks: [String] {
    account.doubts.map { numbers, failure in
      let which =
        numbers.count == 1
        ? "prediction \(numbers.lowerBound) of the model"
        : "predictions \(numbers.lowerBound) to \(numbers.upperBound) of the model"
      return "\(failure.device) computes wrongly (\(failure.place): \(failure.reason)); \(which) may be wrong:"
        + " repeat them without this device"
    }
  }
}
