/// A model could not be loaded, planned or run. `description` says what, where, what was expected and what would help.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  public enum Code: String, Hashable, Sendable {
    /// A file cannot be read or is not what it claims to be.
    case io
    /// The model needs something that Kelvin does not have.
    case unsupported
    /// A feature is missing, unknown or of the wrong type, shape or size.
    case featureType
    /// The configuration does not fit the model or the machine.
    case parameters
    /// A device is absent or failed.
    case device
    /// The task that asked for it was cancelled.
    case predictionCancelled
    /// A fault of Kelvin's own.
    case generic
  }

  /// What kind of failure it is.
  public let code: Code
  /// What, where, what was expected and what was found, and what would help.
  public let description: String

  /// An error of a kind, in words.
  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
