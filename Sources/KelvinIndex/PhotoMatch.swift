/// An image that a search found.
public struct PhotoMatch: Hashable, Sendable {
  /// A label of an image, and how sure the model was.
  public struct Label: Hashable, Sendable {
    /// The label.
    public let identifier: String
    /// 0…1, as the model gave it.
    public let confidence: Float
  }

  /// The file, from the folder of the index on.
  public let path: String
  /// Columns of the upright image.
  public let width: Int
  /// Rows of the upright image.
  public let height: Int
  /// When the file was last written to, in seconds since 1970.
  public let modified: Double
  /// What the search went by: of words the confidence of the label they were found in, the least of several that
  /// were all wanted; of likeness 1 for the same and less for others, −1 at least. 0 where nothing was asked.
  public let score: Float
  /// The surest first; those found by words, however unsure, before all others.
  public let labels: [Label]
}

/// A label and how many images of an index it is the surest of.
public struct PhotoCategory: Hashable, Sendable {
  /// The label.
  public let identifier: String
  /// How many images have it as their surest.
  public let count: Int
  /// The image of which the model is surest, from the folder of the index on.
  public let example: String
}

/// Images that look almost the same.
public struct PhotoDuplicates: Hashable, Sendable {
  /// Their files, from the folder of the index on, the largest image first.
  public let paths: [String]
  /// Whether the files are the same to the byte.
  public let isIdentical: Bool
}
