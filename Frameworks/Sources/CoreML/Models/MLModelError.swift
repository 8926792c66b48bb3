public import Foundation
public import Kelvin

/// The domain of Core ML's errors.
public let MLModelErrorDomain = "com.apple.CoreML"

/// An error with Core ML's domain and code. `localizedDescription` is Kelvin's message: where the problem is, what was
/// expected, what was found, and how to fix it.
public struct MLModelError: Error, CustomNSError, LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure, with Core ML's raw values.
  public enum Code: Int, Sendable {
    /// Another failure: a device, a limit, or a model that Kelvin does not support.
    case generic = 0
    /// A feature is missing, or its value does not fit.
    case featureType = 1
    /// A file cannot be read or written, or is not a model.
    case io = 3
    /// A custom layer has no class, or its class failed.
    case customLayer = 4
    /// A custom model has no class, or its class failed.
    case customModel = 5
    /// Training failed. Does not occur.
    case update = 6
    /// An option does not fit the model.
    case parameters = 7
    /// A key of an encrypted model cannot be fetched. Does not occur.
    case modelDecryptionKeyFetch = 8
    /// An encrypted model cannot be decrypted. Does not occur.
    case modelDecryption = 9
    /// A collection of models is not available.
    case modelCollection = 10
    /// The task of the prediction was cancelled.
    case predictionCancelled = 11
  }

  /// The kind of the failure.
  public let code: Code
  /// The message in one line.
  public let description: String
  /// Kelvin's error; nil for an error of these modules.
  public let kelvin: ModelError?

  /// Creates an error from one of Kelvin's.
  public init(_ error: ModelError) {
    (kelvin, description) = (error, error.description)
    code =
      switch error.code {
      case .io: .io
      case .featureType: .featureType
      case .customLayer: .customLayer
      case .customModel: .customModel
      case .parameters: .parameters
      case .predictionCancelled: .predictionCancelled
      case .unsupported, .device, .limit, .generic: .generic
      }
  }

  init(_ code: Code, _ description: String) {
    (self.code, self.description, kelvin) = (code, description, nil)
  }

  public static var errorDomain: String { MLModelErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorDescription: String? { description }
  public var failureReason: String? { kelvin?.failureReason }
  public var recoverySuggestion: String? { kelvin?.recoverySuggestion }

  /// The message, the reason and the remedy, for `NSError`.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    info[NSLocalizedFailureReasonErrorKey] = failureReason
    info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
    return info
  }

  /// Calls `body` and converts its errors.
  static func wrapping<Result>(_ body: () throws(ModelError) -> Result) throws(MLModelError) -> Result {
    do { return try body() } catch { throw MLModelError(error) }
  }
}

/// Codes that a `catch` clause can name: `catch MLModelError.io`.
extension MLModelError {
  /// The code ``Code/generic``.
  public static var generic: Code { .generic }
  /// The code ``Code/featureType``.
  public static var featureType: Code { .featureType }
  /// The code ``Code/io``.
  public static var io: Code { .io }
  /// The code ``Code/customLayer``.
  public static var customLayer: Code { .customLayer }
  /// The code ``Code/customModel``.
  public static var customModel: Code { .customModel }
  /// The code ``Code/update``.
  public static var update: Code { .update }
  /// The code ``Code/parameters``.
  public static var parameters: Code { .parameters }
  /// The code ``Code/modelDecryptionKeyFetch``.
  public static var modelDecryptionKeyFetch: Code { .modelDecryptionKeyFetch }
  /// The code ``Code/modelDecryption``.
  public static var modelDecryption: Code { .modelDecryption }
  /// The code ``Code/modelCollection``.
  public static var modelCollection: Code { .modelCollection }
  /// The code ``Code/predictionCancelled``.
  public static var predictionCancelled: Code { .predictionCancelled }
}

extension MLModelError.Code {
  /// Returns whether an error has a code, for `catch` clauses.
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? MLModelError)?.code == code }
}
