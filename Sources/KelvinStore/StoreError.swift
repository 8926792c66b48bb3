public import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinPackaging

/// An error of the store of models, or of fetching a model.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure.
  public enum Code: String, Hashable, Sendable {
    /// The store has no such model or version.
    case absent
    /// A name, a version, a URL or an option is not valid.
    case request
    /// The server cannot be reached, refused the request, or broke off.
    case network
    /// The contents differ from the expected hash, length or signature.
    case integrity
    /// The download is not a model, or its archive or manifest is not valid.
    case invalid
    /// The version is pinned or in use.
    case busy
    /// The model is larger than the quota or the limit permits.
    case quota
    /// libcurl is not installed, or cannot be used.
    case libraryMissing
    /// The folder of the store cannot be used.
    case io
    /// There is no space left.
    case noSpace
    /// The task that made the request was cancelled.
    case cancelled
  }

  /// The kind of the failure.
  public let code: Code
  /// One line with the failure, its position, the expected and the actual value, and a remedy. Names from outside are
  /// escaped so that they cannot affect a terminal or a log.
  public let description: String

  /// Whether a connection ended before the download was complete, so that another one may bring the rest.
  let canBeResumed: Bool

  init(_ code: Code, _ description: String, canBeResumed: Bool = false) {
    self.code = code
    self.description = description.printable
    self.canBeResumed = canBeResumed
  }

  init(_ error: FileError) {
    self.init([ENOSPC, EDQUOT, EFBIG].contains(error.code) ? .noSpace : .io, error.description)
  }

  /// - Parameter subject: The beginning of the message, such as "'URL' cannot be unpacked".
  init(_ error: PackagingError, _ subject: String) {
    let code: Code =
      switch error.code {
      case .io: .io
      case .noSpace: .noSpace
      case .libraryMissing: .libraryMissing
      case .absent: .absent
      case .signature, .expired, .key: .integrity
      case .malformed, .refused, .unsupported, .exists: .invalid
      }
    self.init(code, "\(subject): \(error.description)")
  }

  /// Runs a closure and converts its `FileError`.
  static func wrapping<Result>(_ body: () throws(FileError) -> Result) throws(StoreError) -> Result {
    do throws(FileError) { return try body() } catch { throw StoreError(error) }
  }
}

extension StoreError: LocalizedError {
  /// The description, which `localizedDescription` returns.
  public var errorDescription: String? { description }
  /// The remedy: what follows the last semicolon of the description; nil if there is none.
  public var recoverySuggestion: String? { description.remedy }
}
