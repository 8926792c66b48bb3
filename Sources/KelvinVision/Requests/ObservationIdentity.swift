import FoundationEssentials
import Synchronization

/// Which of all observations one is, kept by its copies.
///
/// A classifier makes a thousand observations of an image and is rarely asked for one's ``uuid``: it is a number, counted up, until
/// then. All identities are equal: what was found makes observations equal or not.
struct ObservationIdentity: Hashable, Sendable {
  private static let count = Atomic<UInt64>(0)
  /// What tells the observations of this process from those of others.
  private static let process = UUID().uuid

  private let number = count.wrappingAdd(1, ordering: .relaxed).newValue

  /// Random (version 4 of RFC 9562) for the process, of which the last 48 bits count on from one observation to the next.
  var uuid: UUID {
    var bytes = Self.process
    withUnsafeMutableBytes(of: &bytes) { bytes in
      let node = bytes[10...].reduce(0) { $0 << 8 | UInt64($1) } &+ number
      for place in 10..<16 { bytes[place] = UInt8(truncatingIfNeeded: node >> UInt64(8 * (15 - place))) }
    }
    return UUID(uuid: bytes)
  }

  static func == (left: ObservationIdentity, right: ObservationIdentity) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
