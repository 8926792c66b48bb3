public import FoundationEssentials
public import KelvinVision

/// The criteria of a search. An image must satisfy all of them.
public struct PhotoQuery: Sendable {
  /// A query over the words of labels: `otter OR badger`, `(beach OR lake) NOT dog`, `"sea lion"`, `terr*`. Adjacent
  /// words must occur in one label; `AND`, `OR`, `NOT` and parentheses combine conditions on the image. Words are
  /// stemmed as English.
  public var words: String?
  /// The labels that count.
  public var filter = ConfidenceFilter()
  /// The earliest modification time of the file.
  public var since: Date?
  /// The largest number of matches.
  public var limit = 100

  /// Creates a query for words of labels; nil matches all images.
  public init(_ words: String? = nil) { self.words = words }
}
