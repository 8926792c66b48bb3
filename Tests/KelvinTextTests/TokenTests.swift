import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinText
import TestSupport
import Testing

/// Tokens, held to what the tokenizers package makes of the same texts (Tests/Text/generate.py).
@Suite("WordPiece tokens")
struct TokenTests {
  private struct Recorded: Decodable {
    struct Entry: Decodable {
      var text: String
      var ids: [Int]
      var offsets: [[Int]]
    }
    var cased: [Entry]
    var uncased: [Entry]
  }

  private func read<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(TemporaryFolder.read(TextFixture.path(name))))
  }

  @Test("token numbers and offsets match the tokenizers package", arguments: [true, false])
  func recorded(lowercases: Bool) throws {
    let tokenizer = try TextFixture.tokenizer(lowercases: lowercases)
    let recorded = try read("tokens.json", as: Recorded.self)
    let entries = lowercases ? recorded.uncased : recorded.cased
    #expect(entries.count > 300)
    for entry in entries {
      let encoding = tokenizer.encoding(of: entry.text, limit: .max)
      #expect(encoding.numbers == entry.ids, "\(entry.text.debugDescription)")
      let offsets = encoding.tokens.compactMap { $0.map { [$0.range.lowerBound, $0.range.upperBound] } }
      #expect(offsets == entry.offsets, "\(entry.text.debugDescription)")
    }
  }

  /// Scalars whose category has changed since Unicode 8.
  private static let changed: Set = [0x166D, 0x1734, 0x1885, 0x1886, 0xA9BD, 0x111C9, 0x1171E]

  @Test("every scalar of Unicode 8 is classified as in the tokenizers package")
  func scalars() throws {
    let runs = try read("scalars.json", as: [[Int]].self)
    let tokenizer = WordPieceTokenizer(try WordPieceVocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "ab"]))
    var differing: [String] = []
    for (index, run) in runs.enumerated() {
      let end = index + 1 < runs.count ? runs[index + 1][0] : 0x110000
      for value in run[0]..<end where !Self.changed.contains(value) {
        // Characters added since then count as letters in that package.
        guard let scalar = Unicode.Scalar(UInt32(value)), let age = scalar.properties.age, age.major <= 8 else {
          continue
        }
        let tokens = tokenizer.tokens(of: "a\(scalar)b")
        let form =
          switch tokens.map(\.word) {
          case [0..<3]: tokens[0].number == tokenizer.vocabulary.tokens.count - 1 ? 0 : 2
          case [0..<1, 2..<3]: 1
          case let words where words.first == 0..<1 && words.last == 2..<3: 3
          default: 4
          }
        if form != run[1] { differing.append("\(String(value, radix: 16)): \(form), not \(run[1])") }
      }
    }
    #expect(differing.isEmpty, "\(differing.count) differ: \(differing.prefix(12))")
  }

  @Test("offsets are within the text, in order, and cover its words", arguments: 0..<200 as Range<UInt64>)
  func places(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let parts = [
      "otter", "badgers", " ", "É", "\u{301}", "國", "\u{200B}", "-", "[MASK]", "[", "x", "\u{10FFFF}", "İ", "q", "\n",
    ]
    let text = (0..<Int(random.unit() * 30)).map { _ in parts[Int(random.unit() * Double(parts.count))] }.joined()
    let tokens = try TextFixture.tokenizer().tokens(of: text)
    let count = text.unicodeScalars.count
    var last = 0
    for token in tokens {
      #expect(
        token.range.lowerBound >= last && token.range.upperBound <= count && !token.range.isEmpty,
        "\(text.debugDescription)")
      #expect(token.word.lowerBound <= token.range.lowerBound && token.range.upperBound <= token.word.upperBound)
      last = token.range.lowerBound
    }
  }

  @Test("a long text is truncated, and windows cover each of its tokens")
  func windows() throws {
    let tokenizer = try TextFixture.tokenizer()
    let text = (0..<100).map { "otter \($0)" }.joined(separator: " ")
    let all = tokenizer.tokens(of: text)
    let cut = tokenizer.encoding(of: text, limit: 20)
    #expect(cut.count == 20 && cut.tokens.dropFirst().dropLast().elementsEqual(all.prefix(18).map { $0 }))
    #expect(cut.types == [Int](repeating: 0, count: 20))
    let windows = try #require(tokenizer.windows(of: "where is the otter", over: text, limit: 40, overlap: 10))
    var covered: [WordPieceTokenizer.Token] = []
    for window in windows {
      #expect(window.count <= 40)
      let own = zip(window.types, window.tokens).compactMap { $0 == 1 ? $1 : nil }
      #expect(covered.isEmpty || own.prefix(10).elementsEqual(covered.suffix(10)))
      covered += covered.isEmpty ? own : Array(own.dropFirst(10))
    }
    #expect(covered == all)
    #expect(tokenizer.windows(of: text, over: text, limit: 40, overlap: 10) == nil)
    #expect(tokenizer.windows(of: "where", over: "", limit: 40, overlap: 10)?.map(\.count) == [4])
  }

  @Test func equivalentTokensAreDifferent() throws {
    let tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u{E9}", "e\u{301}"]
    let tokenizer = WordPieceTokenizer(try WordPieceVocabulary(tokens), lowercases: false)
    #expect(tokenizer.tokens(of: "\u{E9} e\u{301}").map(\.number) == [4, 5])
  }

  @Test("an invalid vocabulary is refused with the reason")
  func refused() throws {
    #expect(throws: ModelError.self) { try WordPieceVocabulary(["a", "b"]) }
    let folder = TemporaryFolder()
    for (text, reason) in [("{\n\"version\": 1}", "vocab.txt"), ("", "0 lines"), ("a\nb\n", "'[UNK]'")] {
      let path = folder.write(text, "vocab.txt")
      let error = #expect(throws: ModelError.self) { try WordPieceVocabulary(contentsOf: URL(filePath: path)) }
      #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
    let latin = folder.write([0x66, 0xE9], "latin.txt")
    #expect(throws: ModelError.self) { try WordPieceVocabulary(contentsOf: URL(filePath: latin)) }
    #expect(throws: ModelError.self) { try WordPieceVocabulary(contentsOf: URL(filePath: "\(folder.path)/absent")) }
  }
}
