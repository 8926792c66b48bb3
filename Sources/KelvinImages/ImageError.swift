internal import KelvinBasics

/// What went wrong with an image: what, in which one, and what to do about it.
public struct ImageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  public enum Code: String, Sendable {
    /// The file cannot be opened or read.
    case unreadable
    /// The bytes are of no format that can be decoded here.
    case unknownFormat
    /// The bytes begin as a known format but are truncated or contradict it.
    case corrupt
    /// The image, or what is asked of it, is larger than the limit.
    case tooLarge
    /// The library that decodes images is not installed or too old.
    case decoderMissing
    /// Pixels and dimensions do not agree, or a rectangle lies outside its image.
    case invalidArgument
    /// The image could not be written as a file.
    case encodingFailed
  }

  /// What kind of failure it is.
  public let code: Code
  /// The image: a file's path, or the name of the input it was given for.
  public let name: String
  /// What was found, against what was expected.
  public let reason: String
  /// What to do about it, when that is known.
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
