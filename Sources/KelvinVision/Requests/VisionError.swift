public import FoundationEssentials
public import Kelvin
import KelvinBasics
public import KelvinFeatures

/// An error of an analysis of images.
public enum VisionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The model is not suitable for the request.
  case invalidModel(String)
  /// The model's input is a plain tensor, and no normalization is given.
  case missingNormalization(String)
  /// No model is named, and no default model is configured.
  case missingModel(String)
  /// A request is not valid, for example because its region is outside the image.
  case invalidRequest(String)
  /// The image cannot be read or processed.
  case image(ImageError)
  /// The model cannot be loaded or run.
  case prediction(ModelError)
  /// An index of images cannot be created, updated or searched.
  case index(PhotoIndexError)

  /// A description in one line. Control characters in names are escaped.
  public var description: String {
    switch self {
    case .invalidModel(let reason), .missingNormalization(let reason), .missingModel(let reason),
      .invalidRequest(let reason):
      reason.printable
    case .image(let error): "\(error)"
    case .prediction(let error): error.description
    case .index(let error): error.description
    }
  }
}

extension VisionError: LocalizedError {
  /// The description, which `localizedDescription` returns.
  public var errorDescription: String? { description }
  /// The kind of the error, in words.
  public var failureReason: String? {
    switch self {
    case .invalidModel: "The model is not suitable for the request."
    case .missingNormalization: "The model's input is a plain tensor, and no normalization is given."
    case .missingModel: "No model is named, and no default model is configured."
    case .invalidRequest: "The request is not valid."
    case .image(let error): error.failureReason
    case .prediction(let error): error.failureReason
    case .index(let error): error.failureReason
    }
  }
  /// The remedy; nil if none is known.
  public var recoverySuggestion: String? {
    switch self {
    case .invalidModel(let reason), .missingNormalization(let reason), .missingModel(let reason),
      .invalidRequest(let reason):
      reason.printable.remedy
    case .image(let error): error.recoverySuggestion
    case .prediction(let error): error.recoverySuggestion
    case .index(let error): error.recoverySuggestion
    }
  }
}
