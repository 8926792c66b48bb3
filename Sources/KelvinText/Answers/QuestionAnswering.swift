public import Kelvin

/// Answers questions with spans of a text, using a model such as BERT trained on SQuAD.
///
/// A text that is longer than the model's input is read in overlapping windows, and the best spans of all windows are
/// compared.
///
/// ```swift
/// let vocabulary = try WordPieceVocabulary(contentsOf: URL(filePath: "vocab.txt"))
/// let model = try Model(readingTokensFrom: URL(filePath: "BERTSQUADFP16.mlmodel"))
/// let reader = try QuestionAnswering(model, WordPieceTokenizer(vocabulary))
/// for answer in try reader.answers(to: "Who wrote it?", in: text, count: 3) { print(answer.score, answer.text) }
/// ```
public struct QuestionAnswering: Sendable {
  /// The tokenizer.
  public let tokenizer: WordPieceTokenizer
  /// A description of the model's inputs and outputs as they are used.
  public let summary: String
  /// The maximum number of tokens in a window.
  public var windowLength: Int
  /// The number of tokens of the text that consecutive windows share.
  public var overlap: Int
  /// The maximum number of tokens in an answer. There are no answers if it is less than 1.
  public var longestAnswer = 15
  /// Whether "no answer" is one of the possible answers.
  public var allowsNoAnswer = false
  /// Whether answers begin and end at word boundaries.
  public var keepsWords = true
  private let tokens: TokenModel
  private let outputs: AnswerOutputs

  /// Creates a question answering pipeline.
  ///
  /// - Parameters:
  ///   - model: a model that takes tokens and returns two scores for each token: for an answer that starts there and
  ///     for an answer that ends there.
  ///   - tokenizer: a tokenizer with the vocabulary that the model was trained with.
  ///   - inputs: the names of inputs whose names do not show their role.
  /// - Throws: `ModelError` with code `parameters` for another kind of model.
  public init(
    _ model: Model, _ tokenizer: WordPieceTokenizer, inputs: [TokenInput: String] = [:]
  ) throws(ModelError) {
    self.tokenizer = tokenizer
    tokens = try TokenModel(model, roles: inputs, padding: tokenizer.vocabulary.special.padding)
    outputs = try AnswerOutputs(model.modelDescription)
    windowLength = min(tokens.capacity ?? 384, 384)
    overlap = min(windowLength / 2, 128)
    summary = "\(tokens.summary); \(outputs.summary)"
  }

  /// Returns the best answers in a text, the most likely first. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - question: the question.
  ///   - text: the text that contains the answer.
  ///   - count: the maximum number of answers. Equal spans of several windows count as one.
  /// - Throws: `ModelError` as a prediction does; `featureType` for a question that leaves no room for the text, or
  ///   outputs of another shape.
  public func answers(to question: String, in text: String, count: Int = 1) throws(ModelError) -> [TextAnswer] {
    let windows = try windows(of: question, over: text)
    let results = try tokens.model.predictions(fromBatch: try tokens.batch(windows))
    return try answers(results, windows, text, count)
  }

  /// Returns the best answers in a text without blocking the calling task's thread. Cancelling the task ends the
  /// search.
  ///
  /// - Parameters:
  ///   - question: the question.
  ///   - text: the text that contains the answer.
  ///   - count: the maximum number of answers. Equal spans of several windows count as one.
  /// - Throws: `ModelError` as the blocking method does; `predictionCancelled` if the task was cancelled.
  public func answers(to question: String, in text: String, count: Int = 1) async throws(ModelError) -> [TextAnswer] {
    let windows = try windows(of: question, over: text)
    let results = try await tokens.model.predictions(fromBatch: try tokens.batch(windows))
    return try answers(results, windows, text, count)
  }

  private func windows(of question: String, over text: String) throws(ModelError) -> [TokenEncoding] {
    guard let windows = tokenizer.windows(of: question, over: text, limit: windowLength, overlap: overlap) else {
      let count = tokenizer.tokens(of: question).count
      throw ModelError(
        .featureType,
        "the question has \(count) tokens, which in a window of \(windowLength) leave the text no more than the "
          + "\(overlap) that windows overlap by; ask a shorter question, or use a smaller overlap")
    }
    return windows
  }

  private func answers(
    _ results: ArrayBatchProvider, _ windows: [TokenEncoding], _ text: String, _ count: Int
  ) throws(ModelError) -> [TextAnswer] {
    let scalars = Array(text.unicodeScalars)
    var scores: [Range<Int>: Double] = [:]
    var noAnswer = 1.0
    for (result, window) in zip(results.array, windows) {
      func logits(_ result: some FeatureProvider) throws(ModelError) -> (starts: [Float], ends: [Float]) {
        try outputs.scores(result, length: tokens.length(for: window.count))
      }
      let (starts, ends) = try logits(result)
      let isPassage = window.tokens.indices.map { window.types[$0] == 1 && window.tokens[$0] != nil }
      let spans = AnswerSpans(
        starts: starts, ends: ends, isPassage: isPassage, longest: longestAnswer, count: max(count, 1)
      ) { range(window, $0, $1) }
      noAnswer = min(noAnswer, spans.noAnswer)
      // Overlapping windows can contain the same span.
      for span in spans.spans { scores[span.range] = max(scores[span.range] ?? 0, span.score) }
    }
    var answers = scores.map { range, score in
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars[range])
      return TextAnswer(text: String(text), score: score, range: range)
    }
    if allowsNoAnswer { answers.append(TextAnswer(text: "", score: noAnswer, range: nil)) }
    answers.sort { ($1.score, $0.range?.lowerBound ?? -1, $0.text) < ($0.score, $1.range?.lowerBound ?? -1, $1.text) }
    return Array(answers.prefix(max(count, 0)))
  }

  /// Returns the position in the text from one token of a window to another, extended to whole words if `keepsWords`.
  private func range(_ window: TokenEncoding, _ first: Int, _ last: Int) -> Range<Int> {
    guard let first = window.tokens[first], let last = window.tokens[last] else { return 0..<0 }
    return keepsWords
      ? first.word.lowerBound..<last.word.upperBound : first.range.lowerBound..<last.range.upperBound
  }
}
