/// A classifier's answers for an image whose class is known. Classes are integers with the same meaning in all images.
public struct ClassifiedImage: Hashable, Sendable {
  /// A class to which the image may belong.
  public struct Answer: Hashable, Sendable {
    /// The index of the class.
    public var label: Int
    /// The confidence, 0…1 for probabilities.
    public var confidence: Float

    /// Creates an answer from a class and its confidence.
    public init(label: Int, confidence: Float) { (self.label, self.confidence) = (label, confidence) }
  }

  /// The class of the image.
  public var truth: Int
  /// The answers, the most confident first, each class at most once. Answers of low confidence may be left out.
  public var answers: [Answer]

  /// Creates an image from its class and the answers, the most confident first.
  public init(truth: Int, answers: [Answer]) { (self.truth, self.answers) = (truth, answers) }

  /// Returns whether the right class is among the most confident answers.
  public func isRight(among count: Int) -> Bool { answers.prefix(count).contains { $0.label == truth } }
}
