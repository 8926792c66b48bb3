/// What stands behind the estimates of a device's costs, and how far they are off.
package struct EstimateBasis: Sendable, Hashable, Encodable {
  package enum Kind: String, Sendable, Hashable, Encodable {
    /// A roofline fitted to nodes of this device, in the profile that planning reads.
    case fitted
    /// A profile that comes with Kelvin, measured on a device of the same class.
    case shipped
    /// Orders of magnitude for the kind of device.
    case guess
  }

  package var device: String
  package var kind: Kind
  /// Completes "vulkan:0: estimates come from …".
  package var text: String
  /// Leave-one-out: the median of `|estimate − measured| / measured` of nodes estimated without themselves; nil for a
  /// guess.
  package var leaveOneOutError: Double?
  /// Nodes fitted to.
  package var samples: Int
  /// Of a shipped profile: the median of `|estimate − measured| / measured` over the nodes of every other machine of the
  /// class that Kelvin has measurements of; nil where there is none, and nobody knows how far estimates are off here.
  package var errorElsewhere: Double?
}
