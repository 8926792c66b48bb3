#if Collections
/// What a search looks for; all that is said is to hold of an image.
public struct PhotoQuery: Sendable {
  /// Words of labels: `otter OR badger`, `(beach OR lake) NOT dog`, `"sea lion"`, `terr*`. Words beside one another are
  /// looked for in one label; `AND`, `OR`, `NOT` and parentheses are about the image. English endings do not matter.
  public var words: String?
  /// Which labels count.
  public var filter = ConfidenceFilter()
  /// When the file was written to at the earliest, in seconds since 1970.
  public var since: Double?
  /// How many matches are wanted at most.
  public var limit = 100

  /// A search for words of labels; for all images where nil.
  public init(_ words: String? = nil) { self.words = words }
}
#endif
