package import KelvinBasics
package import KelvinGraph

/// The string of BERT's token numbers (`BertTokenizerDecoder` of onnxruntime-extensions). Inputs: token numbers `[n]` or
/// `[1, n]`, and ranges of positions `[strings, 2]`, which are read only if ``usesRanges``.
package struct BertText: SlotOperation {
  package static let name = "bert_text"
  /// The tokens by number.
  package let tokens: [ExactString]
  package let unknown: String
  package let continuation: String
  /// The tokens that are left out.
  package let omitted: Set<Int>
  /// Whether there is no space next to punctuation.
  package let joinsPunctuation: Bool
  package let usesRanges: Bool
  package let slots: HostSlots

  package init(
    _ tokens: [ExactString], unknown: String, continuation: String, omitting omitted: Set<Int>,
    joinsPunctuation: Bool, usesRanges: Bool, _ slots: HostSlots
  ) {
    self.tokens = tokens
    self.unknown = unknown
    self.continuation = continuation
    self.omitted = omitted
    self.joinsPunctuation = joinsPunctuation
    self.usesRanges = usesRanges
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let numbers = try integers(0, inputs)
    guard numbers.shape.rank == 1 || numbers.shape.rank == 2 && numbers.shape[0] == 1 else {
      throw refused(0, "expected token numbers [n] or [1, n], got \(numbers.type)")
    }
    guard usesRanges else { return [try limited([text(of: numbers.integers[...])])] }
    let ranges = try integers(1, inputs)
    guard ranges.count == 0 || ranges.shape.rank == 2 && ranges.shape[1] == 2 else {
      throw refused(1, "expected ranges [n, 2], got \(ranges.type)")
    }
    let ends = ranges.integers
    var texts: [String] = []
    for index in stride(from: 0, to: ends.count, by: 2) {
      guard 0 <= ends[index], ends[index] <= ends[index + 1], ends[index + 1] <= numbers.count else {
        throw refused(1, "the range \(ends[index]) to \(ends[index + 1]) is not in \(numbers.count) tokens")
      }
      texts.append(text(of: numbers.integers[ends[index]..<ends[index + 1]]))
    }
    return [try limited(texts)]
  }

  private func text(of numbers: ArraySlice<Int>) -> String {
    var text = ""
    var before: Unicode.Scalar?
    for number in numbers where !omitted.contains(number) {
      guard tokens.indices.contains(number) else {
        text += text.isEmpty ? unknown : " \(unknown)"
        continue
      }
      var token = tokens[number].string
      let continues = token.utf8.starts(with: continuation.utf8)
      if continues, text.isEmpty { continue }
      if continues { token = String(token.unicodeScalars.dropFirst(continuation.unicodeScalars.count)) }
      let isJoined = joinsPunctuation && (before.map { joins($0, token.unicodeScalars.first ?? "\0") } ?? true)
      if !text.isEmpty, !continues, !isJoined { text += " " }
      text += token
      before = token.unicodeScalars.last ?? "\0"
    }
    return text
  }

  /// Whether there is no space between two characters.
  private func joins(_ left: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
    let both = "-'\"/@\\".unicodeScalars
    return "!.?,~:}]>)".unicodeScalars.contains(right) || "{[<($".unicodeScalars.contains(left)
      || both.contains(left) || both.contains(right)
      || left.value > 128 && left.isListedPunctuation || right.value > 128 && right.isListedPunctuation
  }
}
