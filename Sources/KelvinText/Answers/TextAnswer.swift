/// An answer to a question: a piece of the text that it was looked for in, or that the text has none.
public struct TextAnswer: Hashable, Sendable {
  /// The piece; empty where the text has no answer.
  public let text: String
  /// How likely it is among the pieces of its window, 0…1.
  public let score: Double
  /// Where it lies, in Unicode scalars from the text's start; nil where the text has no answer.
  public let range: Range<Int>?
}
