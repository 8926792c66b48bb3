internal import KelvinBasics

/// An index of images could not be made, kept or asked.
public struct PhotoIndexError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  public enum Code: String, Hashable, Sendable {
    /// There is no index yet.
    case absent
    /// SQLite is not installed, or too old.
    case libraryMissing
    /// The file is no index, is damaged, or belongs to a newer version of Kelvin.
    case unusable
    /// The index holds what another model saw, or the same one by other rules.
    case otherModel
    /// The words of a search are not put together as they must be.
    case query
    /// What was asked for is not in the index: an image, or vectors to compare it by.
    case notIndexed
    /// The file or folder cannot be read or written.
    case io
    /// There is no room left for the index.
    case noSpace
    /// Another process keeps the index busy.
    case busy
    /// The task that asked was cancelled; what had been done by then is kept.
    case cancelled
  }

  /// What kind of failure it is.
  public let code: Code
  /// What, where, and what would help: one line, in which names from outside are escaped.
  public let description: String

  package init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description.printableMessage
  }
}
