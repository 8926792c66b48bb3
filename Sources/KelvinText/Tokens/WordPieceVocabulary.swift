public import FoundationEssentials
public import Kelvin
import KelvinBasics

/// The tokens of a WordPiece model: a file with one a line, whose numbers are those of the lines, from 0.
public struct WordPieceVocabulary: Sendable {
  /// The tokens that are no part of any text.
  struct Special: Sendable {
    let unknown: Int
    let classification: Int
    let separator: Int
    let padding: Int
  }

  /// What goes on within a word begins so.
  static let continuation = "##"

  /// The tokens in the order of their numbers.
  public let tokens: [String]
  let numbers: [String: Int]
  let special: Special
  /// Those that are one token wherever they stand in a text, longest first.
  let marks: [(scalars: [Unicode.Scalar], number: Int)]

  /// Reads a file.
  ///
  /// - Parameter url: `vocab.txt`.
  /// - Throws: `ModelError` with code `io` for a file that cannot be read, or is no vocabulary.
  public init(contentsOf url: URL) throws(ModelError) {
    let path = url.relativePath
    let data = try LocalFile.read(path)
    guard let text = String(validating: data, as: UTF8.self) else {
      throw ModelError(.io, "'\(path)' is no vocabulary: its bytes are not UTF-8")
    }
    var tokens = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map(String.init)
    while tokens.last == "" { tokens.removeLast() }
    try self.init(tokens, name: "'\(path)'")
  }

  /// Tokens in the order of their numbers.
  ///
  /// - Parameter tokens: with `[UNK]`, `[CLS]`, `[SEP]` and `[PAD]` among them.
  /// - Throws: `ModelError` with code `io` where one of those is missing.
  public init(_ tokens: [String]) throws(ModelError) { try self.init(tokens, name: "the vocabulary") }

  private init(_ tokens: [String], name: String) throws(ModelError) {
    self.tokens = tokens
    // Of tokens that are there twice the last one counts, as in other readers of such files.
    let numbers = Dictionary(tokens.enumerated().map { ($1, $0) }) { $1 }
    self.numbers = numbers
    func number(_ token: String) throws(ModelError) -> Int {
      if let number = numbers[token] { return number }
      let remedy = tokens.first?.hasPrefix("{") == true ? "; a tokenizer.json is none: give its vocab.txt" : ""
      throw ModelError(
        .io,
        "\(name) is no WordPiece vocabulary: it has \(tokens.count) lines, and none of them is '\(token)'\(remedy)")
    }
    special = Special(
      unknown: try number("[UNK]"), classification: try number("[CLS]"), separator: try number("[SEP]"),
      padding: try number("[PAD]"))
    marks = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"].compactMap { token in
      numbers[token].map { (Array(token.unicodeScalars), $0) }
    }
  }
}
