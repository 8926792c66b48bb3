package import KelvinBasics

/// A model of SentencePiece: pieces of text with scores, and how texts are normalized.
///
/// References: Kudo, "Subword regularization" (2018); Kudo and Richardson, "SentencePiece" (2018).
package struct SentencePieces: Hashable, Sendable {
  package struct Piece: Hashable, Sendable {
    package var text = ExactString("")
    package var score: Float = 0
    package var kind = Kind.normal

    package init() {}
  }

  /// The numbers of the kinds in files.
  package enum Kind: Int, Sendable {
    case normal = 1
    case unknown, control, userDefined, unused, byte
  }

  /// How a text is split.
  package enum Algorithm: Int, Sendable {
    /// The most probable pieces.
    case unigram = 1
    /// Merges of neighbours, the best piece first.
    case merges
  }

  /// The contents of a file.
  package struct Settings: Hashable, Sendable {
    package var pieces: [Piece] = []
    package var algorithm = Algorithm.unigram
    package var start = ExactString("<s>")
    package var end = ExactString("</s>")
    /// The text of an unknown piece.
    package var unknownText = ExactString(" \u{2047} ")
    /// Whether unknown characters become pieces of bytes.
    package var fallsBackToBytes = false
    package var map: CharacterMap?
    package var addsSpace = true
    /// Whether the added space is at the end.
    package var spaceIsLast = false
    package var removesSpaces = true
    package var escapesSpaces = true

    package init() {}
  }

  package let settings: Settings
  /// The piece that stands for unknown characters.
  let unknown: Int
  /// The pieces that are found in texts.
  let index: PieceIndex
  /// The pieces that are kept as they are.
  let userDefined: PieceIndex
  /// The pieces of the 256 bytes.
  let bytes: [Int]
  private let reserved: [ExactString: Int]

  /// Creates a model.
  ///
  /// - Returns: nil without exactly one unknown piece, or without the pieces of all bytes that it falls back to.
  package init?(_ settings: Settings) {
    self.settings = settings
    let pieces = settings.pieces
    func keys(_ kinds: Set<Kind>) -> [([UInt8], Int)] {
      pieces.indices.filter { kinds.contains(pieces[$0].kind) }.map { (Array(pieces[$0].text.string.utf8), $0) }
    }
    let unknowns = pieces.indices.filter { pieces[$0].kind == .unknown }
    guard unknowns.count == 1 else { return nil }
    unknown = unknowns[0]
    index = PieceIndex(keys([.normal, .userDefined, .unused]))
    userDefined = PieceIndex(keys([.userDefined]))
    let named = pieces.enumerated().filter { [.unknown, .control, .byte].contains($0.element.kind) }
    reserved = Dictionary(named.map { ($0.element.text, $0.offset) }) { first, _ in first }
    var bytes: [Int: Int] = [:]
    for (number, piece) in pieces.enumerated() where piece.kind == .byte {
      if let byte = BytePairText.byte(of: piece.text.string) { bytes[Int(byte)] = number }
    }
    self.bytes = settings.fallsBackToBytes ? (0..<256).compactMap { bytes[$0] } : []
    guard !settings.fallsBackToBytes || bytes.count == 256 else { return nil }
  }

  /// The number of a piece; that of the unknown piece for a text that is none.
  func number(of text: ExactString) -> Int { reserved[text] ?? index[Array(text.string.utf8)] ?? unknown }

  /// The text with each byte's position in the original.
  struct Normalized {
    var bytes: [UInt8] = []
    /// For each byte the position in the original text, and that of the end.
    var origins: [Int] = []
  }

  func normalized(_ text: String) -> Normalized {
    let original = Array(text.utf8)
    let space = settings.escapesSpaces ? Array("\u{2581}".utf8) : [0x20]
    var result = Normalized()
    var place = 0
    func append(_ bytes: [UInt8]) {
      result.bytes += bytes
      result.origins += [Int](repeating: place, count: bytes.count)
    }
    if settings.removesSpaces {
      while place < original.count, case let prefix = prefix(of: original[place...]), prefix.form == [0x20] {
        place += prefix.length
      }
    }
    guard place < original.count else { return Normalized(bytes: [], origins: [place]) }
    if settings.addsSpace, !settings.spaceIsLast { append(space) }
    var wasSpace = settings.removesSpaces
    while place < original.count {
      let prefix = prefix(of: original[place...])
      let form = wasSpace ? prefix.form.drop { $0 == 0x20 } : prefix.form[...]
      for byte in form { append(byte == 0x20 ? space : [byte]) }
      if let last = form.last { wasSpace = last == 0x20 }
      if !settings.removesSpaces { wasSpace = false }
      place += prefix.length
    }
    if settings.removesSpaces {
      while result.bytes.suffix(space.count) == space[...] {
        place = result.origins[result.bytes.count - space.count]
        result.bytes.removeLast(space.count)
        result.origins.removeLast(space.count)
      }
    }
    if settings.addsSpace, settings.spaceIsLast { append(space) }
    result.origins.append(place)
    return result
  }

  /// Returns the normal form of the first characters of a text, and their number of bytes.
  private func prefix(of text: ArraySlice<UInt8>) -> (form: [UInt8], length: Int) {
    var kept = 0
    userDefined.forEachPrefix(of: text) { length, _ in kept = length }
    if kept > 0 { return (Array(text.prefix(kept)), kept) }
    if let (form, length) = settings.map?.form(of: text) { return (Array(form), length) }
    let character = Array(text.prefix(text.characterLength))
    return (character, character.count)
  }
}

extension ArraySlice<UInt8> {
  /// The number of bytes of the first character of valid UTF-8.
  var characterLength: Int {
    switch self[startIndex] {
    case 0xF0...: 4
    case 0xE0...: 3
    case 0xC0...: 2
    default: 1
    }
  }
}
