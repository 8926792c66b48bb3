public import FoundationEssentials
public import Kelvin
import KelvinBasics

/// The tokens of a WordPiece model: a file with one token per line, whose IDs are the line numbers from 0.
public struct WordPieceVocabulary: Sendable {
  /// The IDs of the special tokens.
  struct Special: Sendable {
    let unknown: Int
    let classification: Int
    let separator: Int
    let padding: Int
  }

  /// The prefix of tokens that continue a word.
  static let continuation = "##"

  /// The tokens, ordered by ID.
  public let tokens: [String]
  let numbers: [ExactString: Int]
  let special: Special
  /// The special tokens that are recognized anywhere in a text, longest first.
  let marks: [(scalars: [Unicode.Scalar], number: Int)]

  /// Reads a vocabulary file.
  ///
  /// - Parameter url: the path of a `vocab.txt`.
  /// - Throws: `ModelError` with code `io` for a file that cannot be read, or is not a vocabulary.
  public init(contentsOf url: URL) throws(ModelError) {
    let path = url.relativePath
    let data = try LocalFile.read(path)
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ModelError(.io, "'\(path)' is not a vocabulary: its bytes are not UTF-8")
    }
    var tokens = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
    while tokens.last == "" { tokens.removeLast() }
    try self.init(tokens, name: "'\(path)'")
  }

  /// Creates a vocabulary from tokens ordered by ID.
  ///
  /// - Parameter tokens: the tokens, including `[UNK]`, `[CLS]`, `[SEP]` and `[PAD]`.
  /// - Throws: `ModelError` with code `io` if one of these tokens is missing.
  public init(_ tokens: [String]) throws(ModelError) { try self.init(tokens, name: "the vocabulary") }

  private init(_ tokens: [String], name: String) throws(ModelError) {
    self.tokens = tokens
    // If a token occurs twice, the last ID is used, as in other implementations.
    let numbers = Dictionary(tokens.enumerated().map { (ExactString($1), $0) }) { $1 }
    self.numbers = numbers
    func number(_ token: String) throws(ModelError) -> Int {
      if let number = numbers[ExactString(token)] { return number }
      let remedy =
        tokens.first?.hasPrefix("{") == true ? "; a tokenizer.json is not a vocabulary: give its vocab.txt" : ""
      throw ModelError(
        .io,
        "\(name) is not a WordPiece vocabulary: it has \(tokens.count) lines, and none of them is '\(token)'\(remedy)")
    }
    special = Special(
      unknown: try number("[UNK]"), classification: try number("[CLS]"), separator: try number("[SEP]"),
      padding: try number("[PAD]"))
    marks = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"].compactMap { token in
      numbers[ExactString(token)].map { (Array(token.unicodeScalars), $0) }
    }
  }
}
