import KelvinBasics
package import KelvinGraph

/// The piece numbers of strings by a model of SentencePiece (`SentencepieceTokenizer` of onnxruntime-extensions). Inputs:
/// strings, two that are not read, and whether the start, the end and the reverse order are wanted, and optionally
/// whether numbers are those of fairseq. Outputs: int32 numbers, the first token of each string with the number of
/// tokens behind, and the int32 byte positions of the tokens in their string.
package struct SentencePieceTokens: SlotOperation {
  package static let name = "sentence_piece_tokens"
  package let model: SentencePieces
  package let slots: HostSlots

  package init(_ model: SentencePieces, _ slots: HostSlots) {
    self.model = model
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs).strings
    let (addsStart, addsEnd) = (try integer(3, inputs) != 0, try integer(4, inputs) != 0)
    let isReversed = try integer(5, inputs) != 0
    let isOfFairseq = try integer(6, inputs, or: 0) != 0 && !isReversed
    var (numbers, places, rows): ([Int], [Int], [Int]) = ([], [], [])
    for string in strings {
      rows.append(numbers.count)
      var tokens = tokens(of: string)
      let start = (number: model.number(of: model.settings.start), place: 0)
      let end = (number: model.number(of: model.settings.end), place: string.utf8.count)
      if addsStart { tokens.insert(start, at: 0) }
      if addsEnd { tokens.append(end) }
      if isReversed { tokens.reverse() }
      numbers += tokens.map { isOfFairseq ? FairseqNumber.ofPiece($0.number) : $0.number }
      places += tokens.map(\.place)
    }
    func list(_ integers: [Int]) -> HostValue {
      .tensor(Tensor(TensorType(.int32, [integers.count]), wrapping: integers.map { Int64($0) }))
    }
    return [list(numbers), .list(rows + [numbers.count]), list(places)]
  }

  /// Returns the pieces of a string with their byte positions. Neighbouring unknown pieces are one.
  private func tokens(of string: String) -> [(number: Int, place: Int)] {
    let text = model.normalized(string)
    var tokens: [(number: Int, place: Int)] = []
    var wasUnknown = false
    for part in model.parts(of: text.bytes) {
      let place = text.origins[part.range.lowerBound]
      let isUnknown = part.number == model.unknown
      if isUnknown, model.settings.fallsBackToBytes {
        tokens += text.bytes[part.range].map { (model.bytes[Int($0)], place) }
      } else if !isUnknown || !wasUnknown {
        tokens.append((part.number, place))
      }
      wasUnknown = isUnknown
    }
    return tokens
  }
}

/// The string of piece numbers (`SentencepieceDecoder` of onnxruntime-extensions). Inputs: numbers `[n]` or `[1, n]`, and
/// optionally whether they are those of fairseq.
package struct SentencePieceText: SlotOperation {
  package static let name = "sentence_piece_text"
  package let model: SentencePieces
  package let slots: HostSlots

  package init(_ model: SentencePieces, _ slots: HostSlots) {
    self.model = model
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let tensor = try integerRow(0, inputs)
    let isOfFairseq = try integer(1, inputs, or: 0) != 0
    let numbers = tensor.integers.map { isOfFairseq ? FairseqNumber.piece($0) : $0 }
    var text: [UInt8] = []
    for number in numbers {
      guard model.settings.pieces.indices.contains(number) else {
        throw refused(0, "there is no piece \(number)", remedy: "give numbers below \(model.settings.pieces.count)")
      }
      text += bytes(of: number, isFirst: text.isEmpty)
    }
    return [try limited([Self.string(text[...])])]
  }

  /// Returns the characters of bytes, and U+FFFD for each byte that is not part of a character.
  private static func string(_ bytes: ArraySlice<UInt8>) -> String {
    var (string, rest) = ("", bytes)
    while !rest.isEmpty {
      let character = String(validating: rest.prefix(rest.characterLength), as: UTF8.self)
      string += character ?? "\u{FFFD}"
      rest = rest.dropFirst(character?.utf8.count ?? 1)
    }
    return string
  }

  private func bytes(of number: Int, isFirst: Bool) -> [UInt8] {
    let piece = model.settings.pieces[number]
    switch piece.kind {
    case .control: return []
    case .unknown: return Array(model.settings.unknownText.string.utf8)
    case .byte: return BytePairText.sentencePieceBytes(of: piece.text.string)
    default: break
    }
    var scalars = piece.text.string.unicodeScalars.map { $0 == "\u{2581}" ? " " : $0 }
    if isFirst, scalars.first == " ", model.settings.addsSpace || model.settings.removesSpaces { scalars.removeFirst() }
    return Array(String(String.UnicodeScalarView(scalars)).utf8)
  }
}

/// Numbers of pieces in vocabularies of fairseq, which begin with `<s>`, `<pad>`, `</s>` and `<unk>`.
private enum FairseqNumber {
  /// Returns the number of the model's piece.
  static func ofPiece(_ number: Int) -> Int {
    switch number {
    case 0: 3
    case 1: 0
    case 2: 2
    default: number + 1
    }
  }

  /// Returns the model's piece of a number.
  static func piece(_ number: Int) -> Int {
    switch number {
    case 3: 0
    case 0: 1
    case 2: 2
    default: number - 1
    }
  }
}
