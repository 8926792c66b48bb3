public import Foundation
import CoreML
import Kelvin
public import KelvinVision

/// The domain of Vision's errors.
public let VNErrorDomain = "com.apple.Vis"

/// The kind of a failure, with Vision's raw values.
public enum VNErrorCode: Int, Sendable {
  case turiCoreErrorCode = -1
  case ok = 0
  case requestCancelled
  case invalidFormat
  case operationFailed
  case outOfBoundsError
  case invalidOption
  case ioError
  case missingOption
  case notImplemented
  case internalError
  case outOfMemory
  case unknownError
  case invalidOperation
  case invalidImage
  case invalidArgument
  case invalidModel
  case unsupportedRevision
  case dataUnavailable
  case timeStampNotFound
  case unsupportedRequest
  case timeout
  case unsupportedComputeStage
  case unsupportedComputeDevice
}

/// An error with Vision's domain and code. `localizedDescription` is Kelvin's message.
public struct VNError: Error, CustomNSError, LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the failure.
  public let code: VNErrorCode
  /// The message in one line.
  public let description: String
  /// Kelvin's error; nil for a request that was cancelled before it began.
  public let kelvin: VisionError?

  /// Creates an error from one of Kelvin's.
  public init(_ error: VisionError) {
    (kelvin, description) = (error, error.description)
    code =
      switch error {
      case .invalidModel, .missingNormalization: .invalidModel
      case .missingModel: .dataUnavailable
      case .invalidRequest: .invalidArgument
      case .image(let image): image.code == .unreadable ? .ioError : .invalidImage
      case .prediction(let prediction): prediction.code == .predictionCancelled ? .requestCancelled : .operationFailed
      case .index: .internalError
      }
  }

  init(_ code: VNErrorCode, _ description: String) {
    (self.code, self.description, kelvin) = (code, description, nil)
  }

  public static var errorDomain: String { VNErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorDescription: String? { description }
  public var failureReason: String? { kelvin?.failureReason }
  public var recoverySuggestion: String? { kelvin?.recoverySuggestion }

  /// The message, the reason, the remedy and the error of the model, for `NSError`.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    info[NSLocalizedFailureReasonErrorKey] = failureReason
    info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
    if case .prediction(let error)? = kelvin { info[NSUnderlyingErrorKey] = MLModelError(error) }
    return info
  }
}
