import FoundationEssentials
import Synchronization

/// The identity of an observation, which its copies share, also those that are encoded and decoded.
///
/// A classifier creates many observations per image whose ``uuid`` is rarely read. The identity is therefore two
/// numbers: one of the process and a counter. All identities compare equal, so that observations compare by their
/// content.
struct ObservationIdentity: Hashable, Sendable, Codable {
  private static let count = Atomic<UInt64>(0)
  /// A random UUID (version 4 of RFC 9562) that distinguishes the observations of this process from those of others.
  private static let process = halves(of: UUID())
  /// The bits of the second half that the counter changes: the last 48, in which nothing but random numbers is stored.
  private static let counted: UInt64 = 0xffff_ffff_ffff

  private let halves: (UInt64, UInt64)

  init() {
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    let (first, second) = Self.process
    halves = (first, second & ~Self.counted | (second &+ number) & Self.counted)
  }

  init(from decoder: any Decoder) throws {
    halves = Self.halves(of: try decoder.singleValueContainer().decode(UUID.self))
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    try value.encode(uuid)
  }

  var uuid: UUID {
    var bytes = UUID().uuid
    withUnsafeMutableBytes(of: &bytes) { bytes in
      bytes.storeBytes(of: halves.0.bigEndian, as: UInt64.self)
      bytes.storeBytes(of: halves.1.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return UUID(uuid: bytes)
  }

  private static func halves(of uuid: UUID) -> (UInt64, UInt64) {
    withUnsafeBytes(of: uuid.uuid) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  static func == (left: ObservationIdentity, right: ObservationIdentity) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
