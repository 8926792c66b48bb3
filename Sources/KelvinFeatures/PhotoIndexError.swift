public import FoundationEssentials
internal import KelvinBasics

/// An error of an index of images.
public struct PhotoIndexError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  public enum Code: String, Hashable, Sendable {
    /// The index does not exist yet.
    case absent
    /// SQLite is not installed, or too old.
    case libraryMissing
    /// The file is not an index, is damaged, or was written by a newer version of Kelvin.
    case unusable
    /// The index was created with another model or other settings.
    case otherModel
    /// The words of a query have a syntax error.
    case query
    /// The index does not contain the requested data, such as vectors for a comparison or curves.
    case notIndexed
    /// The file or folder cannot be read or written.
    case io
    /// There is no space left for the index.
    case noSpace
    /// Another process keeps the index locked.
    case busy
    /// The task was cancelled. Finished work is kept.
    case cancelled
  }

  /// The kind of the error.
  public let code: Code
  /// A description in one line with the cause and the remedy. Control characters in names are escaped.
  public let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description.printableMessage
  }
}

extension PhotoIndexError: LocalizedError {
  /// The description, which `localizedDescription` returns.
  public var errorDescription: String? { description }
  /// The kind of the error, in words.
  public var failureReason: String? {
    switch code {
    case .absent: "The index does not exist yet."
    case .libraryMissing: "SQLite is not installed, or too old."
    case .unusable: "The file is not an index, is damaged, or was written by a newer version of Kelvin."
    case .otherModel: "The index was created with another model or other settings."
    case .query: "The words of the query have a syntax error."
    case .notIndexed: "The index does not contain the requested data."
    case .io: "The file or folder cannot be read or written."
    case .noSpace: "No space is left for the index."
    case .busy: "Another process keeps the index locked."
    case .cancelled: "The task was cancelled. Finished work is kept."
    }
  }
  /// The remedy: what follows the last semicolon of the description; nil if there is none.
  public var recoverySuggestion: String? { description.remedy }
}
