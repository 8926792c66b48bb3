package import KelvinFeatures

/// A query over the labels of an image: `otter OR badger`, `(beach OR lake) NOT dog`, `"sea lion"`, `terr*`.
///
/// Adjacent words must occur in one label, in any order. `AND`, `OR`, `NOT` (in capitals) and parentheses combine
/// conditions on the image. `NOT` is a binary operator and binds most tightly; `OR` binds least.
package indirect enum LabelQuery: Hashable, Sendable {
  /// Words of one label, in the syntax of SQLite's full-text search.
  case words(String)
  case both(LabelQuery, LabelQuery)
  case either(LabelQuery, LabelQuery)
  case without(LabelQuery, LabelQuery)

  /// Parses a query.
  ///
  /// - Throws: `query` with the syntax error.
  package init(_ text: String) throws(PhotoIndexError) {
    var parser = LabelQueryParser(text)
    self = try parser.whole()
  }

  /// The number of searches for words in the query.
  var wordCount: Int {
    switch self {
    case .words: 1
    case .both(let a, let b), .either(let a, let b), .without(let a, let b): a.wordCount + b.wordCount
    }
  }
}

private struct LabelQueryParser {
  private enum Token: Hashable {
    case open, close, and, or, not
    case word(String, isPrefix: Bool)
  }

  private let text: String
  private var tokens: [Token] = []
  private var position = 0
  private var depth = 0
  private static let deepest = 100
  private static let mostShown = 200
  /// Each part of a query is one more call on the stack.
  private static let mostTokens = 1000

  init(_ text: String) { self.text = text }

  mutating func whole() throws(PhotoIndexError) -> LabelQuery {
    try tokenize()
    guard !tokens.isEmpty else { throw fault("it has no words") }
    guard tokens.count <= Self.mostTokens else {
      throw fault("it has \(tokens.count) words and operators, more than \(Self.mostTokens)")
    }
    let query = try either()
    guard position == tokens.count else { throw fault("a ')' has no '(' before it") }
    return query
  }

  private func fault(_ reason: String) -> PhotoIndexError {
    PhotoIndexError(
      .query,
      "cannot search for '\(text.prefix(Self.mostShown))': \(reason); words, \"words in order\", begin*, AND, OR, NOT and ( ) "
        + "are understood")
  }

  private mutating func tokenize() throws(PhotoIndexError) {
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "(": tokens.append(.open)
      case ")": tokens.append(.close)
      case "\"":
        guard let end = rest.firstIndex(of: "\"") else { throw fault("a quotation mark is not closed") }
        let phrase = String(rest[..<end])
        rest = rest[rest.index(after: end)...]
        try append(phrase, isPrefix: rest.first == "*")
        if rest.first == "*" { rest.removeFirst() }
      case _ where scalar.properties.isWhitespace: continue
      default:
        var word = String(scalar)
        while let next = rest.first, !next.properties.isWhitespace, !"()\"".unicodeScalars.contains(next) {
          word.unicodeScalars.append(next)
          rest.removeFirst()
        }
        switch word {
        case "AND": tokens.append(.and)
        case "OR": tokens.append(.or)
        case "NOT": tokens.append(.not)
        default: try append(word.hasSuffix("*") ? String(word.dropLast()) : word, isPrefix: word.hasSuffix("*"))
        }
      }
    }
  }

  private mutating func append(_ word: String, isPrefix: Bool) throws(PhotoIndexError) {
    guard word.unicodeScalars.contains(where: { $0.properties.isAlphabetic || $0.properties.numericType != nil }) else {
      throw fault("'\(word)' is not a word")
    }
    tokens.append(.word(word, isPrefix: isPrefix))
  }

  private var next: Token? { position < tokens.count ? tokens[position] : nil }

  private mutating func either() throws(PhotoIndexError) -> LabelQuery {
    var query = try both()
    while next == .or {
      position += 1
      query = .either(query, try both())
    }
    return query
  }

  private mutating func both() throws(PhotoIndexError) -> LabelQuery {
    var query = try without()
    while let token = next, token != .or, token != .close {
      if token == .and { position += 1 }
      query = .both(query, try without())
    }
    return query
  }

  private mutating func without() throws(PhotoIndexError) -> LabelQuery {
    var query = try one()
    while next == .not {
      position += 1
      query = .without(query, try one())
    }
    return query
  }

  private mutating func one() throws(PhotoIndexError) -> LabelQuery {
    switch next {
    case .open:
      depth += 1
      defer { depth -= 1 }
      guard depth <= Self.deepest else { throw fault("it has more than \(Self.deepest) nested parentheses") }
      position += 1
      let query = try either()
      guard next == .close else { throw fault("a '(' has no ')' behind it") }
      position += 1
      return query
    case .word:
      var words: [String] = []
      while case .word(let word, let isPrefix) = next {
        words.append("\"\(word.replacing("\"", with: ""))\"" + (isPrefix ? " *" : ""))
        position += 1
      }
      return .words(words.joined(separator: " "))
    case .not: throw fault("NOT needs words before and after it, as in 'animal NOT dog'")
    case .and, .or: throw fault("something is missing before \(next == .and ? "AND" : "OR")")
    case .close: throw fault("a ')' has nothing before it")
    case nil: throw fault("a word is missing at the end")
    }
  }
}
