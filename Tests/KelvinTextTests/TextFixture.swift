import FoundationEssentials
import KelvinText
import TestSupport

/// The vocabulary and models of Tests/Text.
enum TextFixture {
  static func path(_ name: String) -> String { "\(SharedFiles.projectRoot)/Tests/Text/\(name)" }

  static func tokenizer(lowercases: Bool = true) throws -> WordPieceTokenizer {
    WordPieceTokenizer(
      try WordPieceVocabulary(contentsOf: URL(filePath: path("vocabulary.txt"))), lowercases: lowercases)
  }
}
