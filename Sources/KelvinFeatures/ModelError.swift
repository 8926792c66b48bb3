import KelvinBasics

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
    /// The model reached a limit that was set for it, of time or of memory.
    case limit
    /// A fault of Kelvin's own.
    case generic
  }

  /// Whose it is to mend a failure; the command line's exit statuses go by it.
  package enum Fault: Hashable, Sendable {
    /// What was asked for contradicts itself, or means nothing.
    case request
    /// A file, a model or a value that was given.
    case data
    /// A device that is not there, or stopped working.
    case device
    /// Kelvin's own, or the machine's: a full disk, memory that ran out.
    case own
    /// The model's, or that of who set a limit too low for it.
    case limit
    /// Nobody's: it was cancelled.
    case cancelled
  }

  /// What kind of failure it is.
  public let code: Code
  /// Whose it is to mend.
  package let fault: Fault
  /// What, where, what was expected and what was found, and what would help: one line, in which names from outside are
  /// escaped where a terminal or a log would act on them.
  public let description: String

  /// An error of a kind, in words.
  public init(_ code: Code, _ description: String) {
    let fault: Fault =
      switch code {
      case .io, .unsupported, .featureType, .parameters: .data
      case .device: .device
      case .predictionCancelled: .cancelled
      case .limit: .limit
      case .generic: .own
      }
    self.init(code, description, fault: fault)
  }

  package init(_ code: Code, _ description: String, fault: Fault) {
    self.code = code
    self.description = description.printable
    self.fault = fault
  }
}
