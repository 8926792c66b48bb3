/// What a classifier said of a picture whose class is known. Classes are numbers, the same in all pictures.
public struct ClassifiedPicture: Hashable, Sendable {
  public struct Answer: Hashable, Sendable {
    public var label: Int
    public var confidence: Float

    public init(label: Int, confidence: Float) { (self.label, self.confidence) = (label, confidence) }
  }

  /// The picture's class.
  public var truth: Int
  /// The surest first, each class once; those that are hardly believed may be left out.
  public var answers: [Answer]

  public init(truth: Int, answers: [Answer]) { (self.truth, self.answers) = (truth, answers) }

  /// Whether the class is among the surest answers.
  public func isRight(among count: Int) -> Bool { answers.prefix(count).contains { $0.label == truth } }

  public var confidenceOfTruth: Float { answers.first { $0.label == truth }?.confidence ?? 0 }
}
