/// An image that a search found.
public struct PhotoMatch: Hashable, Sendable {
  /// A label of an image with the model's confidence.
  public struct Label: Hashable, Sendable {
    /// The label.
    public let identifier: String
    /// The confidence as the model gave it, usually 0…1.
    public let confidence: Float
  }

  /// The path of the file, relative to the index's folder.
  public let path: String
  /// The width of the upright image in pixels.
  public let width: Int
  /// The height of the upright image in pixels.
  public let height: Int
  /// The modification time of the file, in seconds since 1970.
  public let modified: Double
  /// The score of the match. For words it is the confidence of the matching label; `AND` takes the smaller and `OR` the
  /// larger of two. For similarity it is 1 for identical content and less for other images, at least −1. Without a
  /// criterion it is 0.
  public let score: Float
  /// The labels: first those that matched the words, then all others, each group by descending confidence.
  public let labels: [Label]
}

/// A label with the number of images whose most confident label it is.
public struct PhotoCategory: Hashable, Sendable {
  /// The label.
  public let identifier: String
  /// The number of images.
  public let count: Int
  /// The path of the image with the largest confidence, relative to the index's folder.
  public let example: String
}

/// A group of images that look almost the same.
public struct PhotoDuplicates: Hashable, Sendable {
  /// The paths of the files, relative to the index's folder, the largest image first.
  public let paths: [String]
  /// Whether the files are identical.
  public let isIdentical: Bool
}
