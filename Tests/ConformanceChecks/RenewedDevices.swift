package import KelvinDevices
import Synchronization

/// The devices of a suite. A device that has failed is opened anew when it is next asked for, so that a loss fails one
/// case instead of all later ones.
package final class RenewedDevices<Made: Device>: Sendable {
  private let make: @Sendable () -> [Made]
  private let made: Mutex<[Made]>

  /// - Parameter make: opens the devices, in the same order each time.
  package init(_ make: @escaping @Sendable () -> [Made]) {
    self.make = make
    made = Mutex(make())
  }

  /// The devices, none of which has failed so far.
  package var all: [Made] {
    made.withLock { made in
      guard made.contains(where: { !$0.health.mayFree }) else { return made }
      let fresh = make()
      for index in made.indices where !made[index].health.mayFree && index < fresh.count { made[index] = fresh[index] }
      return made
    }
  }
}
