public import Foundation
package import KelvinMeasuring
import Synchronization

extension ProcessInfo {
  /// The thermal state of the machine, with Foundation's raw values.
  public enum ThermalState: Int, Sendable {
    /// Within normal limits.
    case nominal
    /// Slightly elevated.
    case fair
    /// High.
    case serious
    /// The machine throttles itself.
    case critical
  }

  /// Posted when the thermal state changes, after ``thermalState`` was read for the first time.
  public static let thermalStateDidChangeNotification = Notification.Name(
    "NSProcessInfoThermalStateDidChangeNotification")

  /// The thermal state, by sensors or by Kelvin's thermal model. The first access starts to watch the machine; until the
  /// first reading the state is nominal.
  public var thermalState: ThermalState { machine?.state ?? .nominal }
}

/// The watch of this machine; nil if the class of the machine is not known.
private let machine = (try? ThermalMonitor()).map { ThermalWatch($0.states(every: .seconds(1))) }

/// Keeps the latest of several states and posts a notification for each change.
package final class ThermalWatch: Sendable {
  private let latest = Mutex(ProcessInfo.ThermalState.nominal)

  /// The latest state.
  package var state: ProcessInfo.ThermalState { latest.withLock { $0 } }

  /// Watches states until their end.
  package init(_ states: AsyncStream<KelvinMeasuring.ThermalState>) {
    Task { [weak self] in
      for await state in states { self?.take(ProcessInfo.ThermalState(rawValue: state.rawValue) ?? .nominal) }
    }
  }

  private func take(_ state: ProcessInfo.ThermalState) {
    let isNew = latest.withLock { latest in
      defer { latest = state }
      return latest != state
    }
    guard isNew else { return }
    NotificationCenter.default.post(
      name: ProcessInfo.thermalStateDidChangeNotification, object: ProcessInfo.processInfo)
  }
}
