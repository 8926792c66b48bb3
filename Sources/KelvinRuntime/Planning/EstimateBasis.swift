/// The source of a device's cost estimates, and their error.
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
  /// The source in words, to complete "vulkan:0: estimates come from …".
  package var text: String
  /// The leave-one-out error: the median of `|estimate − measured| / measured` of nodes estimated without themselves;
  /// nil for a guess.
  package var leaveOneOutError: Double?
  /// The number of nodes used for the fit.
  package var samples: Int
  /// The error of a shipped profile elsewhere: the median of `|estimate − measured| / measured` over the nodes of all
  /// other measured machines of the class. Nil if there are none and the error here is unknown.
  package var errorElsewhere: Double?
}
