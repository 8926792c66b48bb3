package import KelvinBasics
package import KelvinGraph

/// The token numbers of one or two strings with BERT's special tokens (`BertTokenizer` and `HfBertTokenizer` of
/// onnxruntime-extensions). Outputs, each with one element per token: token numbers, types (0 for the first string, 1
/// for the second), a mask of ones, and the offsets `[tokens, 2]`.
package struct BertTokens: SlotOperation {
  package static let name = "bert_tokens"

  /// A vocabulary with the special tokens of BERT.
  package struct Vocabulary: Hashable, Sendable {
    package let pieces: WordPieces
    /// The tokens by number.
    package let tokens: [Int: ExactString]
    package let unknown: Int
    package let classification: Int
    package let separator: Int

    package init(_ pieces: WordPieces, unknown: Int, classification: Int, separator: Int) {
      self.pieces = pieces
      tokens = Dictionary(pieces.numbers.map { ($1, $0) }) { first, _ in first }
      self.unknown = unknown
      self.classification = classification
      self.separator = separator
    }
  }

  /// The outputs of an operator.
  package enum Form: Hashable, Sendable {
    /// Lists: numbers, types, mask, offsets. Takes one or two strings.
    case lists
    /// Rows `[1, tokens]`: numbers, mask, types; and offsets. Takes two strings.
    case rows
  }

  package let vocabulary: Vocabulary
  /// The rules that split a string into words; nil to split at spaces only.
  package let rules: BasicWords.Rules?
  package let form: Form
  /// The maximum number of tokens of a single string; longer ones are cut.
  package let mostTokens: Int?
  package let slots: HostSlots

  package init(
    _ vocabulary: Vocabulary, _ rules: BasicWords.Rules?, _ form: Form, atMost mostTokens: Int?, _ slots: HostSlots
  ) {
    self.vocabulary = vocabulary
    self.rules = rules
    self.form = form
    self.mostTokens = mostTokens
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs).strings
    guard strings.count == 2 || form == .lists && strings.count == 1 else {
      throw refused(0, "expected \(form == .rows ? "two strings" : "one or two strings"), got \(strings.count)")
    }
    var (numbers, types, offsets) = ([vocabulary.classification], [0], [Int]())
    for (index, string) in strings.enumerated() {
      let tokens = tokens(of: string)
      offsets += self.offsets(of: tokens)
      var kept = tokens[...]
      if strings.count == 1, let mostTokens, mostTokens > 2 { kept = tokens.prefix(mostTokens - 2) }
      numbers += kept + [vocabulary.separator]
      types += [Int](repeating: index, count: kept.count + 1)
    }
    let shape: Shape = form == .rows ? [1, numbers.count] : [numbers.count]
    func value(_ integers: [Int]) -> HostValue { .tensor(Tensor(integers.map { Int64($0) }, shape)) }
    let mask = [Int](repeating: 1, count: numbers.count)
    let places = Tensor(offsets.prefix(2 * numbers.count).map { Int64($0) }, [numbers.count, 2])
    let lists = form == .rows ? [numbers, mask, types] : [numbers, types, mask]
    return lists.map(value) + [.tensor(places)]
  }

  private func tokens(of string: String) -> [Int] {
    let words = rules.map { $0.words(of: string) } ?? spaced(string)
    return words.flatMap { word in
      let (pieces, isWhole) = vocabulary.pieces.pieces(of: word)
      return pieces.map(\.number) + (isWhole ? [] : [vocabulary.unknown])
    }
  }

  /// Splits at spaces. A space that begins a word belongs to it.
  private func spaced(_ string: String) -> [[Unicode.Scalar]] {
    var words: [[Unicode.Scalar]] = [[]]
    for scalar in string.unicodeScalars {
      if scalar == " ", !words[words.count - 1].isEmpty {
        words.append([])
      } else {
        words[words.count - 1].append(scalar)
      }
    }
    return words.filter { !$0.isEmpty }
  }

  /// Returns the offsets that the library gives: byte counts of tokens, as if one space were between words.
  private func offsets(of tokens: [Int]) -> [Int] {
    var offsets = [0, 0]
    var offset = 0
    for token in tokens {
      let bytes = Array((vocabulary.tokens[token]?.string ?? "").utf8)
      let marks = bytes.prefix { $0 == 0x23 }.count
      if marks > 0 { offset -= 1 }
      let length = token == vocabulary.unknown ? 1 : bytes.count - marks
      offsets += [offset, offset + length]
      offset += length + 1
    }
    return offsets + [0, 0]
  }
}
