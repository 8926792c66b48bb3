import FoundationEssentials
import Synchronization

/// The identity of an observation, which its copies share.
///
/// A classifier creates many observations per image whose ``uuid`` is rarely read. The identity is therefore a counter,
/// from which the UUID is computed on demand. All identities compare equal, so that observations compare by their
/// content.
struct ObservationIdentity: Hashable, Sendable {
  private static let count = Atomic<UInt64>(0)
  /// A random UUID that distinguishes the observations of this process from those of others.
  private static let process = UUID().uuid

  private let number = count.wrappingAdd(1, ordering: .relaxed).newValue

  /// The UUID: random (version 4 of RFC 9562) per process, with the counter added to its last 48 bits.
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
