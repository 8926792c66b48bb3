import FoundationEssentials
import Kelvin
import KelvinText
import TestSupport
import Testing

/// Answers, held to what transformers makes of the same network's scores (Tests/Text/generate.py).
@Suite("Answers as spans of a text")
struct AnswerTests {
  private struct Recorded: Decodable {
    struct Options: Decodable {
      var handleImpossibleAnswer: Bool?
      var alignToWords: Bool?
      var maxAnswerLen: Int?
    }
    struct Answer: Decodable {
      var text: String
      var score: Double
      var start: Int
      var end: Int
    }
    var question: String
    var passage: String
    var options: Options
    var answers: [Answer]
  }

  private func recorded() throws -> [Recorded] {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode([Recorded].self, from: Data(TemporaryFolder.read(TextFixture.path("answers.json"))))
  }

  private func reader(_ name: String) throws -> QuestionAnswering {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try Model(readingTokensFrom: URL(filePath: TextFixture.path(name)), configuration: configuration)
    var reader = try QuestionAnswering(model, try TextFixture.tokenizer())
    reader.windowLength = 64
    reader.overlap = 24
    return reader
  }

  @Test("extreme limits are accepted")
  func limits() throws {
    let entry = try recorded()[0]
    var reader = try reader("squad.onnx")
    reader.longestAnswer = .max
    #expect(try reader.answers(to: entry.question, in: entry.passage).count == 1)
    #expect(try reader.answers(to: entry.question, in: entry.passage, count: -1).isEmpty)
    reader.longestAnswer = -1
    #expect(try reader.answers(to: entry.question, in: entry.passage).isEmpty)
  }

  @Test("the best spans are those of transformers", arguments: ["squad.onnx", "squad_fixed.onnx"])
  func spans(model: String) throws {
    let cases = try recorded()
    #expect(cases.count == 27)
    for entry in cases {
      var reader = try reader(model)
      reader.allowsNoAnswer = entry.options.handleImpossibleAnswer ?? false
      reader.keepsWords = entry.options.alignToWords ?? true
      reader.longestAnswer = entry.options.maxAnswerLen ?? 15
      let answers = try reader.answers(to: entry.question, in: entry.passage, count: 3)
      #expect(answers.count == entry.answers.count)
      for (found, expected) in zip(answers, entry.answers) {
        #expect(abs(found.score - expected.score) < 1e-5, "\(entry.question) \(entry.options): \(answers)")
        #expect(found.text == expected.text, "\(entry.question) \(entry.options): \(answers)")
        #expect((found.range ?? 0..<0) == expected.start..<expected.end)
      }
    }
  }

  @Test("an answer's range locates it in the text")
  func ranges() throws {
    let reader = try reader("squad.onnx")
    let text = "👩‍👩‍👧 e\u{301}té 中文 … " + (0..<60).map { "The otter sold \($0) lemons." }.joined(separator: "\r\n")
    let scalars = Array(text.unicodeScalars)
    let answers = try reader.answers(to: "Who sold lemons?", in: text, count: 20)
    #expect(answers.count == 20)
    for answer in answers {
      let range = try #require(answer.range)
      #expect(Array(answer.text.unicodeScalars) == Array(scalars[range]))
    }
    #expect(zip(answers, answers.dropFirst()).allSatisfy { $0.score >= $1.score })
    #expect(Set(answers.map(\.range)).count == answers.count)
  }

  @Test("a text without words has no answer, and a question without end is refused")
  func edges() throws {
    var reader = try reader("squad.onnx")
    #expect(try reader.answers(to: "Who?", in: " \n").isEmpty)
    reader.allowsNoAnswer = true
    #expect(try reader.answers(to: "Who?", in: "").first?.range == nil)
    let question = String(repeating: "otter ", count: 80)
    let error = #expect(throws: ModelError.self) { try reader.answers(to: question, in: "text") }
    #expect(error?.description.contains("80 tokens") == true)
  }

  @Test("unsuitable models are refused with the missing names")
  func refused() throws {
    let model = try Model(
      contentsOf: URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx"),
      configuration: ModelConfiguration(computeUnits: .cpuOnly))
    let error = #expect(throws: ModelError.self) { try QuestionAnswering(model, try TextFixture.tokenizer()) }
    #expect(error?.code == .parameters)
    let squad = try Model(
      readingTokensFrom: URL(filePath: TextFixture.path("squad.onnx")),
      configuration: ModelConfiguration(computeUnits: .cpuOnly))
    let other = #expect(throws: ModelError.self) {
      try QuestionAnswering(squad, try TextFixture.tokenizer(), inputs: [.mask: "absent"])
    }
    #expect(other?.description.contains("'input_ids'") == true, "\(String(describing: other))")
  }
}
