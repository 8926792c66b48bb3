public import Kelvin

/// Computes text embeddings, in which texts of similar meaning have similar vectors, using a model such as those of
/// sentence-transformers.
///
/// ```swift
/// let vocabulary = try WordPieceVocabulary(contentsOf: URL(filePath: "vocab.txt"))
/// let encoder = try SentenceEncoder(try Model(readingTokensFrom: url), WordPieceTokenizer(vocabulary))
/// let vectors = try encoder.embeddings(of: ["A cat sleeps.", "A kitten naps."])
/// print(SentenceEncoder.similarity(vectors[0], vectors[1]))
/// ```
public struct SentenceEncoder: Sendable {
  /// The method that combines token vectors to a text vector.
  public enum Pooling: String, Hashable, Sendable, CaseIterable {
    /// The mean of the token vectors.
    case mean
    /// The vector of the first token, `[CLS]`.
    case first
  }

  /// The tokenizer.
  public let tokenizer: WordPieceTokenizer
  /// A description of the model's inputs and outputs as they are used.
  public let summary: String
  /// The method that combines token vectors. It does not apply to a model that returns one vector for the text.
  public var pooling = Pooling.mean
  /// Whether vectors are normalized to length 1.
  public var normalizes = true
  /// The maximum number of tokens of a text; further tokens are ignored.
  public var tokenLimit: Int
  private let tokens: TokenModel
  private let output: String

  /// Creates an encoder.
  ///
  /// - Parameters:
  ///   - model: a model that takes tokens and returns a vector for each token, or for the text.
  ///   - tokenizer: a tokenizer with the vocabulary that the model was trained with.
  ///   - inputs: the names of inputs whose names do not show their role.
  ///   - output: the output to use; nil for the output whose name or shape fits best.
  /// - Throws: `ModelError` with code `parameters` for another kind of model.
  public init(
    _ model: Model, _ tokenizer: WordPieceTokenizer, inputs: [TokenInput: String] = [:], output: String? = nil
  ) throws(ModelError) {
    self.tokenizer = tokenizer
    tokens = try TokenModel(model, roles: inputs, padding: tokenizer.vocabulary.special.padding)
    self.output = try Self.output(model.modelDescription, output)
    tokenLimit = min(tokens.capacity ?? 512, 512)
    summary = "\(tokens.summary); vectors '\(self.output)'"
  }

  private static func output(_ description: ModelDescription, _ given: String?) throws(ModelError) -> String {
    let names = description.outputNames.filter { description.outputDescriptionsByName[$0]?.type == .multiArray }
    if let given {
      guard names.contains(given) else {
        throw ModelError(
          .parameters, "the model has no output '\(given)' that is an array; it has \(names.joined(separator: ", "))")
      }
      return given
    }
    let usual = ["sentence_embedding", "embeddings", "last_hidden_state", "token_embeddings"]
    if let name = usual.first(where: names.contains) { return name }
    let ofTokens = names.first {
      description.outputDescriptionsByName[$0]?.multiArrayConstraint?.shape.count == 3
    }
    guard let name = ofTokens ?? names.first else {
      throw ModelError(.parameters, "the model has no vector output: none of its outputs is an array")
    }
    return name
  }

  /// Returns the vector of a text. Blocks the calling thread.
  ///
  /// - Parameter text: any text.
  /// - Throws: `ModelError` as a prediction does, or if the model's output is not a vector for each token or for the
  ///   text.
  public func embedding(of text: String) throws(ModelError) -> [Float] {
    let encoding = encoding(of: text)
    return try vector(try tokens.model.prediction(from: try tokens.features(encoding)), encoding.count)
  }

  /// Returns the vectors of texts, in their order, computing several at a time. Blocks the calling thread.
  ///
  /// - Parameter texts: any texts.
  /// - Throws: `ModelError` as `embedding(of:)` does, for the first text that fails.
  public func embeddings(of texts: [String]) throws(ModelError) -> [[Float]] {
    let encodings = texts.map(encoding)
    return try vectors(try tokens.model.predictions(fromBatch: try tokens.batch(encodings)), encodings)
  }

  /// Returns the vectors of texts without blocking the calling task's thread. Cancelling the task ends the predictions.
  ///
  /// - Parameter texts: any texts.
  /// - Throws: `ModelError` as the blocking method does; `predictionCancelled` if the task was cancelled.
  public func embeddings(of texts: [String]) async throws(ModelError) -> [[Float]] {
    let encodings = texts.map(encoding)
    return try vectors(try await tokens.model.predictions(fromBatch: try tokens.batch(encodings)), encodings)
  }

  /// Returns the cosine similarity of two vectors, −1…1; 0 if one of them is zero.
  ///
  /// - Parameters:
  ///   - left: a vector.
  ///   - right: a vector of the same length.
  public static func similarity(_ left: [Float], _ right: [Float]) -> Float {
    var (product, lefts, rights) = (0.0, 0.0, 0.0)
    for (x, y) in zip(left, right) {
      product += Double(x) * Double(y)
      lefts += Double(x) * Double(x)
      rights += Double(y) * Double(y)
    }
    let lengths = (lefts * rights).squareRoot()
    return lengths > 0 ? Float(product / lengths) : 0
  }

  private func encoding(of text: String) -> TokenEncoding { tokenizer.encoding(of: text, limit: tokenLimit) }

  private func vectors(
    _ results: ArrayBatchProvider, _ encodings: [TokenEncoding]
  ) throws(ModelError) -> [[Float]] {
    var vectors: [[Float]] = []
    for (result, encoding) in zip(results.array, encodings) {
      func vector(_ result: some FeatureProvider) throws(ModelError) -> [Float] {
        try self.vector(result, encoding.count)
      }
      vectors.append(try vector(result))
    }
    return vectors
  }

  /// - Parameter count: the number of tokens without padding.
  private func vector(_ result: some FeatureProvider, _ count: Int) throws(ModelError) -> [Float] {
    guard let array = result.featureValue(for: output)?.multiArrayValue else {
      throw ModelError(.featureType, "the output '\(output)' is not an array")
    }
    let sizes = Array(array.shape.drop { $0 == 1 })
    let length = tokens.length(for: count)
    guard sizes.count == 1 || sizes.count == 2 && sizes[0] == length || array.shape.suffix(2).first == 1 && length == 1
    else {
      throw ModelError(
        .featureType,
        "the output '\(output)' has the shape \(array.shape), expected a vector for each of \(length) tokens or one for the text"
      )
    }
    let numbers = array.floats
    var vector = numbers
    if sizes.count == 2 {
      vector = TokenPooling.pooled(numbers, width: sizes[1], count: pooling == .first ? 1 : count)
    }
    return normalizes ? TokenPooling.normalized(vector) : vector
  }
}
