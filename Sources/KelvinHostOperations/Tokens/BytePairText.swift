package import KelvinBasics
package import KelvinGraph

/// The strings of token numbers of byte pair encoding (`BpeDecoder` of onnxruntime-extensions). The last axis of the
/// input is one string.
package struct BytePairText: SlotOperation {
  package static let name = "byte_pair_text"

  /// The parts of an operator's vocabulary.
  package struct Vocabulary: Hashable, Sendable {
    /// The tokens by number.
    package var tokens: [ExactString] = []
    /// The tokens that replace others or have other numbers.
    package var added: [Int: ExactString] = [:]
    package var special: Set<Int> = []
    /// The byte of each character of a token.
    package var bytes: [Unicode.Scalar: UInt8] = [:]
    package var unknown = ExactString("")
    /// Whether `▁` stands for a space, as in models of SentencePiece.
    package var isOfSentencePiece: Bool { bytes["\u{2581}"] != nil }

    package init() {}
  }

  package let vocabulary: Vocabulary
  package let omitsSpecial: Bool
  /// Whether there are spaces around special tokens.
  package let spacesSpecial: Bool
  package let slots: HostSlots

  package init(_ vocabulary: Vocabulary, omitsSpecial: Bool, spacesSpecial: Bool, _ slots: HostSlots) {
    self.vocabulary = vocabulary
    self.omitsSpecial = omitsSpecial
    self.spacesSpecial = spacesSpecial
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let tensor = try integers(0, inputs)
    guard let length = tensor.shape.dimensions.last else { throw refused(0, "expected a last axis of token numbers") }
    let numbers = tensor.integers
    let count = tensor.shape.dimensions.dropLast().reduce(1, *)
    let texts = (0..<count).map { text(of: numbers[$0 * length..<($0 + 1) * length]) }
    return [try limited(texts, tensor.shape.rank > 1 ? Shape(tensor.shape.dimensions.dropLast()) : [1])]
  }

  private func text(of numbers: ArraySlice<Int>) -> String {
    var text: [UInt8] = []
    var wasSpecial = false
    for (index, number) in zip(0..., numbers) {
      let isSpecial = vocabulary.special.contains(number)
      defer { wasSpecial = isSpecial }
      guard !isSpecial || !omitsSpecial, let bytes = bytes(of: number) else { continue }
      if spacesSpecial, isSpecial, index > 0, !wasSpecial { text.append(0x20) }
      text += bytes
      if spacesSpecial, isSpecial, index < numbers.count - 1 { text.append(0x20) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the bytes of a token; nil for one that is left out.
  private func bytes(of number: Int) -> [UInt8]? {
    if let added = vocabulary.added[number] { return Array(added.string.utf8) }
    let unknown = Array(vocabulary.unknown.string.utf8)
    guard vocabulary.tokens.indices.contains(number) else { return omitsSpecial ? nil : unknown }
    let token = vocabulary.tokens[number].string
    if vocabulary.isOfSentencePiece { return Self.sentencePieceBytes(of: token) }
    var bytes: [UInt8] = []
    for scalar in token.unicodeScalars {
      if let byte = vocabulary.bytes[scalar] ?? UInt8(exactly: scalar.value) {
        bytes.append(byte)
      } else if !omitsSpecial {
        return unknown
      }
    }
    return bytes
  }

  /// Returns the bytes of a piece of SentencePiece: `<0x20>` is one byte, and `▁` a space.
  static func sentencePieceBytes(of piece: String) -> [UInt8] {
    if let byte = byte(of: piece) { return [byte] }
    let scalars = piece.unicodeScalars.map { $0 == "\u{2581}" ? " " : $0 }
    return Array(String(String.UnicodeScalarView(scalars)).utf8)
  }

  static func byte(of piece: String) -> UInt8? {
    let bytes = Array(piece.utf8)
    guard bytes.count == 6, bytes.starts(with: "<0x".utf8), bytes[5] == 0x3E else { return nil }
    return UInt8(String(decoding: bytes[3..<5], as: UTF8.self), radix: 16)
  }
}
