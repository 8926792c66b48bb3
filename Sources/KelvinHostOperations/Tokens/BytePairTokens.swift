package import KelvinBasics
package import KelvinGraph

/// The token numbers of strings by byte pair encoding (`GPT2Tokenizer`, `RobertaTokenizer` and `CLIPTokenizer` of
/// onnxruntime-extensions). Outputs: the numbers of the tokens as a last axis, a mask that is 0 for padding, and the
/// offsets of the tokens, with a further axis of 2.
package struct BytePairTokens: SlotOperation {
  package static let name = "byte_pair_tokens"

  /// A token that is recognized in a text.
  package struct Mark: Hashable, Sendable {
    package let text: ExactString
    package let number: Int
    fileprivate var scalars: [Unicode.Scalar] { Array(text.string.unicodeScalars) }

    package init(_ text: String, _ number: Int) {
      self.text = ExactString(text)
      self.number = number
    }
  }

  /// How a model writes texts.
  package struct Style: Hashable, Sendable {
    /// The tokens around each text; nil for none.
    package var ends: (start: Int, end: Int)? { start.flatMap { start in end.map { (start, $0) } } }
    package var start: Int?
    package var end: Int?
    package var padding = 0
    /// Whether texts are lowercase, spaces are one space, and the last token of a word ends in `</w>`.
    package var isOfCLIP = false

    package init() {}
  }

  package let pairs: BytePairs
  package let style: Style
  /// The tokens that are found first: of those at one position the longest.
  package let added: [Mark]
  /// The tokens that are found afterwards, one after another.
  package let special: [Mark]
  /// The number of tokens of each row, to which it is padded or cut; nil for that of the longest row.
  package let length: Int?
  package let slots: HostSlots

  /// The greatest number of bytes of a word.
  private static let wordLimit = 1 << 16

  private typealias Row = [(number: Int, range: Range<Int>)]

  package init(
    _ pairs: BytePairs, _ style: Style, added: [Mark], special: [Mark], length: Int?, _ slots: HostSlots
  ) {
    self.pairs = pairs
    self.style = style
    self.added = added
    self.special = special
    self.length = length
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    var rows: [Row] = []
    for string in strings.strings { rows.append(try row(of: string)) }
    let width = length ?? rows.map(\.count).max() ?? 0
    let shape = try checked(Shape(strings.shape.dimensions + [width]), at: 0)
    let pairs = try checked(Shape(shape.dimensions + [2]), at: 0)
    var (numbers, mask, ends): ([Int64], [Int64], [Int64]) = ([], [], [])
    for row in rows {
      for index in 0..<width {
        let token = index < row.count ? row[index] : nil
        numbers.append(Int64(token?.number ?? style.padding))
        mask.append(token == nil ? 0 : 1)
        ends += [Int64(token?.range.lowerBound ?? 0), Int64(token?.range.upperBound ?? 0)]
      }
    }
    let values = [(numbers, shape), (mask, shape), (ends, pairs)]
    return values.prefix(outputs.count).map { .tensor(Tensor($0, $1)) }
  }

  private func row(of string: String) throws(HostOperationError) -> Row {
    var text = Array(string.unicodeScalars)
    if style.isOfCLIP { text = cleaned(text) }
    var row: Row = style.ends.map { [($0.start, 0..<0)] } ?? []
    for (part, number) in parts(of: text) {
      if let number {
        row.append((number, 0..<0))
        continue
      }
      var offset = 0
      for word in PreTokens(of: text[part]) { row += try tokens(of: word, &offset) }
    }
    return row + (style.ends.map { [($0.end, 0..<0)] } ?? [])
  }

  /// Returns the text in lowercase with one space for several, as CLIP reads it.
  private func cleaned(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var result: [Unicode.Scalar] = []
    var wasSpace = false
    for scalar in text {
      let isSpace = scalar.properties.isWhitespace || (0x1C...0x1F).contains(scalar.value)
      if !isSpace || !wasSpace { result.append(scalar) }
      wasSpace = isSpace
    }
    if let first = result.first, first.properties.isWhitespace { result.removeFirst() }
    if let last = result.last, last.properties.isWhitespace { result.removeLast() }
    return result.filter { $0 != "\n" && $0 != "\r" }.flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) }
  }

  /// Returns the parts of a text between marks, and the marks with their numbers.
  private func parts(of text: [Unicode.Scalar]) -> [(Range<Int>, Int?)] {
    var parts: [(Range<Int>, Int?)] = text.isEmpty ? [] : [(0..<text.count, nil)]
    for marks in [added] + special.map({ [$0] }) where !marks.isEmpty {
      parts = parts.flatMap { part, number in number == nil ? self.parts(of: text, part, at: marks) : [(part, number)] }
    }
    return parts
  }

  private func parts(of text: [Unicode.Scalar], _ part: Range<Int>, at marks: [Mark]) -> [(Range<Int>, Int?)] {
    let sorted = marks.map { ($0.scalars, $0.number) }.filter { !$0.0.isEmpty }.sorted { $0.0.count > $1.0.count }
    var parts: [(Range<Int>, Int?)] = []
    var (start, place) = (part.lowerBound, part.lowerBound)
    while place < part.upperBound {
      let rest = text[place..<part.upperBound]
      guard let (scalars, number) = sorted.first(where: { rest.starts(with: $0.0) }) else {
        place += 1
        continue
      }
      if start < place { parts.append((start..<place, nil)) }
      parts.append((place..<place + scalars.count, number))
      place += scalars.count
      start = place
    }
    return start < part.upperBound ? parts + [(start..<part.upperBound, nil)] : parts
  }

  /// Returns the tokens of a word. Offsets count bytes as the library does: of bytes whose characters are beyond ASCII,
  /// those of the character, unless the word is one token.
  private func tokens(of word: ArraySlice<Unicode.Scalar>, _ offset: inout Int) throws(HostOperationError) -> Row {
    let skip = word.first == " " ? 1 : 0
    offset += skip
    let scalars = style.isOfCLIP ? word.filter { $0 != " " } : Array(word)
    let bytes = Array(String(String.UnicodeScalarView(scalars)).utf8)
    guard bytes.count <= Self.wordLimit else {
      throw refused(
        0, "a word has \(bytes.count) bytes, expected at most \(Self.wordLimit)", remedy: "give shorter ones")
    }
    guard !bytes.isEmpty else { return [] }
    var characters = bytes.map { String(ByteCharacters.all[Int($0)]) }
    if style.isOfCLIP { characters[characters.count - 1] += "</w>" }
    let tokens: [BytePairs.Token]
    if let whole = pairs[characters.joined()] {
      tokens = [(whole, bytes.count)]
    } else {
      tokens = pairs.merged(characters.map { (pairs[$0] ?? BytePairs.missing, $0.utf8.count) })
    }
    return tokens.map { token in
      let start = offset
      offset += token.length - (style.isOfCLIP ? 0 : skip)
      return (token.number, min(start, offset)..<max(start, offset))
    }
  }
}
