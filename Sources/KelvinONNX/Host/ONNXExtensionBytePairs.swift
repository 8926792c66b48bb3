import KelvinBasics
import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The tokenizers of onnxruntime-extensions by byte pair encoding.
extension ONNXHostMapper {
  static let extensionBytePairs: [ONNXHostMapper] = [
    bytePairs(
      "GPT2Tokenizer", "GPT2", unknown: "<|endoftext|>", ends: ("<|endoftext|>", "<|endoftext|>"), padding: nil),
    bytePairs("RobertaTokenizer", "Roberta", unknown: "<unk>", ends: ("<s>", "</s>"), padding: "<pad>"),
    bytePairs(
      "CLIPTokenizer", "CLIP", unknown: "<|endoftext|>", ends: ("<|startoftext|>", "<|endoftext|>"),
      padding: "<|endoftext|>"),
    bpeDecoder,
  ]

  /// - Parameters:
  ///   - model: The model that the operator names if the node names none.
  ///   - ends: The tokens around a text, which models other than GPT-2 have.
  private static func bytePairs(
    _ kind: String, _ model: String, unknown: String, ends: (start: String, end: String), padding: String?
  ) -> ONNXHostMapper {
    let offsets = model == "GPT2" ? 2 : 3
    return extended(kind, outputs: offsets) { (node, slots) throws(FormatError) in
      var numbers = try node.vocabularyDocument("vocab")
      let merges = try node.merges()
      for token in [unknown, ends.start, ends.end] + (padding.map { [$0] } ?? []) {
        let count = numbers.count
        numbers[ExactString(token), default: count] += 0
      }
      let model = node.text("model_name", default: model)
      guard ["GPT2", "CodeGen", "Roberta", "CLIP"].contains(model) else {
        throw node.unsupported("its model_name is '\(model)'", remedy: "use GPT2, CodeGen, Roberta or CLIP")
      }
      func number(_ token: String) -> Int? { numbers[ExactString(token)] }
      var style = BytePairTokens.Style()
      style.isOfCLIP = model == "CLIP"
      if model != "GPT2", model != "CodeGen" { (style.start, style.end) = (number(ends.start), number(ends.end)) }
      style.padding = padding.flatMap(number) ?? 0
      let special = [unknown, ends.start, ends.end, padding].compactMap { $0 }.withoutRepetition
      let length = node.integer("padding_length", default: -1)
      guard length == -1 || (1...1 << 20).contains(length) else {
        throw node.malformed("its padding_length is \(length), expected -1 or 1 to 2^20")
      }
      return BytePairTokens(
        BytePairs(numbers, merges: merges), style, added: try node.addedTokens(),
        special: special.map { BytePairTokens.Mark($0, number($0) ?? BytePairs.missing) },
        length: length < 0 ? nil : length, slots)
    }
  }

  private static let bpeDecoder = extended("BpeDecoder", strings: [0]) { (node, slots) throws(FormatError) in
    var vocabulary = BytePairText.Vocabulary()
    vocabulary.tokens = try node.required("id_vocab").utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      .map { ExactString(String(Substring($0))) }
    for (number, text) in try node.numbered("byte_decoder") {
      guard let scalar = UInt32(exactly: number).flatMap(Unicode.Scalar.init), let byte = UInt8(text) else {
        throw node.malformed("its byte_decoder has '\(text.prefix(16))' for \(number), expected a byte of a character")
      }
      vocabulary.bytes[scalar] = byte
    }
    guard !vocabulary.bytes.isEmpty else { throw node.malformed("it has no byte_decoder") }
    vocabulary.added = Dictionary(try node.numbered("added_tokens").map { ($0, ExactString($1)) }) { first, _ in first }
    vocabulary.special = Set(try node.numbered("all_special_ids").map(\.0))
    vocabulary.unknown = ExactString(node.text("unk_token", default: "<|endoftext|>"))
    return BytePairText(
      vocabulary, omitsSpecial: node.flag("skip_special_tokens"), spacesSpecial: node.flag("whitespace_token"), slots)
  }
}

extension ONNXHostNode {
  /// Returns the merges of byte pair encoding, one per line, without comments before the first.
  fileprivate func merges() throws(FormatError) -> [(String, String)] {
    var merges: [(String, String)] = []
    for line in try required("merges").utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      if line.first == 0x23, merges.isEmpty { continue }
      guard let space = line.firstIndex(of: 0x20) else {
        throw malformed("a line of its merges, '\(String(Substring(line)).prefix(32))', has no space")
      }
      merges.append((String(Substring(line[..<space])), String(Substring(line[line.index(after: space)...]))))
    }
    return merges
  }

  /// Returns the lines `token=number` of `added_token`.
  fileprivate func addedTokens() throws(FormatError) -> [BytePairTokens.Mark] {
    var marks: [BytePairTokens.Mark] = []
    for line in text("added_token", default: "").utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      guard let equal = line.lastIndex(of: 0x3D), let number = Int(String(Substring(line[line.index(after: equal)...])))
      else { throw malformed("a line of its added_token is not a token, '=' and a number") }
      marks.append(BytePairTokens.Mark(String(Substring(line[..<equal])), number))
    }
    return marks
  }

  /// Returns the lines of an attribute: a number, and a string behind a tab if there is one.
  fileprivate func numbered(_ name: String) throws(FormatError) -> [(Int, String)] {
    var lines: [(Int, String)] = []
    for line in text(name, default: "").utf8.split(separator: 0x0A) {
      let tab = line.firstIndex(of: 0x09) ?? line.endIndex
      guard let number = Int(String(Substring(line[..<tab]))) else {
        throw malformed("a line of its \(name) does not begin with a number")
      }
      lines.append((number, tab == line.endIndex ? "" : String(Substring(line[line.index(after: tab)...]))))
    }
    return lines
  }
}
