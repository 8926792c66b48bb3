public import Kelvin

/// Answers to questions as pieces of a text, by a model such as BERT trained on SQuAD.
///
/// A text that is longer than the model takes is read in windows that overlap, and the best pieces of all of them are compared.
///
/// ```swift
/// let vocabulary = try WordPieceVocabulary(contentsOf: URL(filePath: "vocab.txt"))
/// let model = try Model(readingTokensFrom: URL(filePath: "BERTSQUADFP16.mlmodel"))
/// let reader = try QuestionAnswering(model, WordPieceTokenizer(vocabulary))
/// for answer in try reader.answers(to: "Who wrote it?", in: text, count: 3) { print(answer.score, answer.text) }
/// ```
public struct QuestionAnswering: Sendable {
  /// What cuts texts into tokens.
  public let tokenizer: WordPieceTokenizer
  /// What of the model was taken for what, in words.
  public let summary: String
  /// The most tokens of a window.
  public var windowLength: Int
  /// How many tokens of the text a window has in common with the one before it.
  public var overlap: Int
  /// The most tokens of an answer, from 1; of none where it is less.
  public var longestAnswer = 15
  /// Whether the text may have no answer, which is then one of them.
  public var allowsNoAnswer = false
  /// Whether an answer's first and last words are whole.
  public var keepsWords = true
  private let tokens: TokenModel
  private let outputs: AnswerOutputs

  /// A reader.
  ///
  /// - Parameters:
  ///   - model: takes tokens and gives two scores for each: of an answer that begins there, and of one that ends there.
  ///   - tokenizer: with the vocabulary that the model was trained with.
  ///   - inputs: the names of inputs whose names do not say what they are for.
  /// - Throws: `ModelError` with code `parameters` for a model that is no such thing.
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

  /// The best answers that a text has, the likeliest first. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - question: what is asked.
  ///   - text: where the answer is looked for.
  ///   - count: the most answers; pieces that say the same in the same place are one.
  /// - Throws: `ModelError` as a prediction does; `featureType` for a question that leaves no room for the text, or outputs
  ///   of another shape.
  public func answers(to question: String, in text: String, count: Int = 1) throws(ModelError) -> [TextAnswer] {
    let windows = try windows(of: question, over: text)
    let results = try tokens.model.predictions(fromBatch: try tokens.batch(windows))
    return try answers(results, windows, text, count)
  }

  /// The best answers that a text has, without blocking the calling task's thread. Cancelling the task ends it.
  ///
  /// - Parameters:
  ///   - question: what is asked.
  ///   - text: where the answer is looked for.
  ///   - count: the most answers; pieces that say the same in the same place are one.
  /// - Throws: `ModelError` as the blocking form does; `predictionCancelled` where the task was cancelled.
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
        "the question has \(count) tokens, which in a window of \(windowLength) leaves the text no more than the "
          + "\(overlap) that windows overlap by; ask a shorter one, or let windows overlap less")
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
      // The same piece may be one of several windows.
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

  /// Where the text from one token of a window to another lies, in whole words unless tokens are enough.
  private func range(_ window: TokenEncoding, _ first: Int, _ last: Int) -> Range<Int> {
    guard let first = window.tokens[first], let last = window.tokens[last] else { return 0..<0 }
    return keepsWords
      ? first.word.lowerBound..<last.word.upperBound : first.range.lowerBound..<last.range.upperBound
  }
}
