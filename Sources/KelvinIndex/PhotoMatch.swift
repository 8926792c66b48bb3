/// A picture that a search found.
public struct PhotoMatch: Hashable, Sendable {
  /// A label of a picture, and how sure the model was.
  public struct Label: Hashable, Sendable {
    /// The label.
    public let identifier: String
    /// 0…1, as the model gave it.
    public let confidence: Float
  }

  /// The file, from the folder of the index on.
  public let path: String
  /// Columns of the upright picture.
  public let width: Int
  /// Rows of the upright picture.
  public let height: Int
  /// When the file was last written to, in seconds since 1970.
  public let modified: Double
  /// What the search went by: of words the confidence of the label they were found in, the least of several that
  /// were all wanted; of likeness 1 for the same and less for others, −1 at least. 0 where nothing was asked.
  public let score: Float
  /// The surest first; those found by words, however unsure, before all others.
  public let labels: [Label]
}

/// A label and how many pictures of an index it is the surest of.
public struct PhotoCategory: Hashable, Sendable {
  /// The label.
  public let identifier: String
  /// How many pictures have it as their surest.
  public let count: Int
  /// The picture of which the model is surest, from the folder of the index on.
  public let example: String
}

/// Pictures that look almost the same.
public struct PhotoDuplicates: Hashable, Sendable {
  /// Their files, from the folder of the index on, the largest picture first.
  public let paths: [String]
  /// Whether the files are the same to the byte.
  public let isIdentical: Bool
}
