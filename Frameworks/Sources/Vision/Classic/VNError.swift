public import Foundation
import CoreML
import Kelvin
public import KelvinVision

/// The domain of Vision's errors.
public let VNErrorDomain = "com.apple.Vis"

/// The kind of a failure, with Vision's raw values.
public enum VNErrorCode: Int, Sendable {
  /// Training failed. Does not occur.
  case turiCoreErrorCode = -1
  /// No failure. Does not occur.
  case ok = 0
  /// The request or its task was cancelled.
  case requestCancelled
  /// The format of data is not valid. Does not occur.
  case invalidFormat
  /// The prediction failed.
  case operationFailed
  /// An index is out of range. Does not occur.
  case outOfBoundsError
  /// An option is not valid. Does not occur.
  case invalidOption
  /// An image file cannot be read.
  case ioError
  /// An option is missing. Does not occur.
  case missingOption
  /// A function is not available. Does not occur.
  case notImplemented
  /// A failure of the implementation.
  case internalError
  /// Memory is lacking. Does not occur.
  case outOfMemory
  /// Another failure. Does not occur.
  case unknownError
  /// A call that is not valid now. Does not occur.
  case invalidOperation
  /// An image cannot be decoded or processed.
  case invalidImage
  /// A property of the request is not valid.
  case invalidArgument
  /// The model does not fit the request.
  case invalidModel
  /// A revision is not available. Does not occur.
  case unsupportedRevision
  /// The request needs a model that is not installed.
  case dataUnavailable
  /// A frame has no time. Does not occur.
  case timeStampNotFound
  /// A request is not available. Does not occur.
  case unsupportedRequest
  /// The time is over. Does not occur.
  case timeout
  /// A stage is not available. Does not occur.
  case unsupportedComputeStage
  /// A device is not available. Does not occur.
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
