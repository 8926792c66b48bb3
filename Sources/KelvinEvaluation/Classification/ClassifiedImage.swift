/// What a classifier said of an image whose class is known. Classes are numbers, the same in all images.
public struct ClassifiedImage: Hashable, Sendable {
  /// A class that the image may be of.
  public struct Answer: Hashable, Sendable {
    /// The class's number.
    public var label: Int
    /// 0…1 of what is a probability.
    public var confidence: Float

    /// A class with how much it is believed.
    public init(label: Int, confidence: Float) { (self.label, self.confidence) = (label, confidence) }
  }

  /// The image's class.
  public var truth: Int
  /// The surest first, each class once; those that are hardly believed may be left out.
  public var answers: [Answer]

  /// An image of a class, and what was said of it, the surest first.
  public init(truth: Int, answers: [Answer]) { (self.truth, self.answers) = (truth, answers) }

  /// Whether the class is among the surest answers.
  public func isRight(among count: Int) -> Bool { answers.prefix(count).contains { $0.label == truth } }
}
