public import FoundationEssentials
internal import KelvinBasics

/// An error of reading, decoding, processing or writing an image.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: String, Sendable {
    /// The file cannot be opened or read.
    case unreadable
    /// The format of the bytes is unknown or cannot be decoded.
    case unknownFormat
    /// The bytes begin like a known format but are truncated or inconsistent.
    case corrupt
    /// The image, or the requested result, is larger than the limit.
    case tooLarge
    /// The library that decodes images is not installed, or is too old.
    case decoderMissing
    /// Pixels and dimensions do not match, or a rectangle is outside its image.
    case invalidArgument
    /// The image could not be encoded.
    case encodingFailed
  }

  /// The kind of the error.
  public let code: Code
  /// The name of the image: the path of its file, or the name of the input.
  public let name: String
  /// The reason, with the found and the expected value.
  public let reason: String
  /// The remedy, where known.
  public let remedy: String?

  package init(_ code: Code, _ name: String, _ reason: String, remedy: String? = nil) {
    self.code = code
    self.name = name
    self.reason = reason
    self.remedy = remedy
  }

  public var description: String {
    ("image '\(name)': \(reason)" + (remedy.map { "; \($0)" } ?? "")).printable
  }
}

extension ImageError: LocalizedError {
  /// The description, which `localizedDescription` returns.
  public var errorDescription: String? { description }
  /// The reason, with the found and the expected value.
  public var failureReason: String? { reason.printable }
  /// The remedy, where known.
  public var recoverySuggestion: String? { remedy?.printable }
}
