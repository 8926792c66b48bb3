public import FoundationEssentials
import KelvinBasics

/// An error of loading, planning or running a model. `description` names the position, the expected and the actual
/// value, and a remedy.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure.
  public enum Code: String, Hashable, Sendable {
    /// A file cannot be read or is not what it claims to be.
    case io
    /// The model needs a feature that Kelvin does not support.
    case unsupported
    /// A feature is missing, unknown or of the wrong type, shape or size.
    case featureType
    /// The program has no code for a custom layer, or its code failed.
    case customLayer
    /// The program has no code for a custom model, or its code failed.
    case customModel
    /// The configuration does not fit the model or the machine.
    case parameters
    /// A device is missing or failed.
    case device
    /// The task that made the request was cancelled.
    case predictionCancelled
    /// The model reached a limit of time or memory that the caller set.
    case limit
    /// An internal error of Kelvin.
    case generic
  }

  /// The party that can fix a failure. The command line's exit statuses depend on it.
  package enum Fault: Hashable, Sendable {
    /// The request is contradictory or invalid.
    case request
    /// A given file, model or value is invalid.
    case data
    /// A device is missing or stopped working.
    case device
    /// Kelvin or the machine failed: a full disk, exhausted memory.
    case own
    /// The model exceeded a limit, or the limit was too low for it.
    case limit
    /// The request was cancelled.
    case cancelled
  }

  /// The kind of the failure.
  public let code: Code
  /// The party that can fix the failure.
  package let fault: Fault
  /// One line with the failure, its position, the expected and the actual value, and a remedy. Names from outside are
  /// escaped so that they cannot affect a terminal or a log.
  public let description: String

  /// Creates an error with a description.
  public init(_ code: Code, _ description: String) {
    let fault: Fault =
      switch code {
      case .io, .unsupported, .featureType, .customLayer, .customModel, .parameters: .data
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

extension ModelError: LocalizedError {
  /// The description, which `localizedDescription` returns.
  public var errorDescription: String? { description }
  /// The kind of the failure, in words.
  public var failureReason: String? {
    switch code {
    case .io: "A file cannot be read, or is not what it claims to be."
    case .unsupported: "The model needs a feature that Kelvin does not support."
    case .featureType: "A feature is missing, unknown, or of the wrong type, shape or size."
    case .customLayer: "The program has no code for a custom layer, or its code failed."
    case .customModel: "The program has no code for a custom model, or its code failed."
    case .parameters: "The configuration does not fit the model or the machine."
    case .device: "A device is missing or failed."
    case .predictionCancelled: "The task that made the request was cancelled."
    case .limit: "The model reached a limit of time or memory."
    case .generic: "Kelvin or the machine failed."
    }
  }
  /// The remedy: what follows the last semicolon of the description; nil if there is none.
  public var recoverySuggestion: String? { description.remedy }
}
