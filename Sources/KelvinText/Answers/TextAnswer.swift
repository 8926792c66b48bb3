/// An answer to a question: a span of the text, or "no answer".
public struct TextAnswer: Hashable, Sendable {
  /// The answer; empty for "no answer".
  public let text: String
  /// The answer's probability among the spans of its window, 0…1.
  public let score: Double
  /// The position of the answer in Unicode scalars from the start of the text; nil for "no answer".
  public let range: Range<Int>?
}
