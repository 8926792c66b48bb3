import KelvinBasics
import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The tokenizers of onnxruntime-extensions.
extension ONNXHostMapper {
  static let extensionTokenizers: [ONNXHostMapper] = [
    bert("BertTokenizer", .lists), bert("HfBertTokenizer", .rows), bertDecoder, basicTokenizer, wordpieceTokenizer,
  ]

  private static func bert(_ kind: String, _ form: BertTokens.Form) -> ONNXHostMapper {
    extended(kind, outputs: 4) { (node, slots) throws(FormatError) in
      let rules = node.flag("do_basic_tokenize", default: true) ? node.wordRules() : nil
      guard rules != nil || !node.hasOutput(3) else {
        throw node.unsupported(
          "it gives offsets without do_basic_tokenize", remedy: "set do_basic_tokenize, or remove the output")
      }
      let limit = node.integer("max_length", default: -1)
      return BertTokens(try node.bertVocabulary(), rules, form, atMost: limit > 0 ? limit : nil, slots)
    }
  }

  private static let basicTokenizer = extended("BasicTokenizer", strings: [0]) { node, slots in
    var rules = node.wordRules()
    rules.splitsPunctuation = node.flag("tokenize_punctuation")
    rules.dropsControls = node.flag("remove_control_chars", default: true)
    return BasicWords(rules, slots)
  }

  private static let wordpieceTokenizer = extended(
    "WordpieceTokenizer", inputs: 2...2, outputs: 4, strings: [0]
  ) { (node, slots) throws(FormatError) in
    let pieces = WordPieces(
      try node.vocabularyDocument("vocab"), continuation: node.text("suffix_indicator", default: ""),
      mostScalars: node.integer("max_input_chars_per_word", default: 200))
    return WordPieceStrings(pieces, unknown: node.text("unknown_token", default: ""), slots)
  }

  private static let bertDecoder = extended(
    "BertTokenizerDecoder", inputs: 2...2, strings: [0]
  ) { (node, slots) throws(FormatError) in
    let tokens = try node.required("vocab_file").utf8.split(separator: 0x0A).map { ExactString(String(Substring($0))) }
    func number(_ names: String...) -> Int? {
      let names = Set(names.map { ExactString(node.token($0)) })
      return tokens.lastIndex(where: names.contains)
    }
    // The library takes the padding token for the separator if it comes later in the vocabulary.
    let special = [number("sep", "pad"), number("cls"), number("mask"), -1]
    return BertText(
      tokens, unknown: node.token("unk"), continuation: node.text("suffix_indicator", default: "##"),
      omitting: node.flag("skip_special_tokens") ? Set(special.compactMap { $0 }) : [],
      joinsPunctuation: node.flag("clean_up_tokenization_spaces", default: true),
      usesRanges: node.flag("use_indices"), slots)
  }
}

extension ONNXHostNode {
  fileprivate func wordRules() -> BasicWords.Rules {
    var rules = BasicWords.Rules()
    rules.lowercases = flag("do_lower_case", default: true)
    rules.stripsAccents = flag("strip_accents")
    rules.splitsChinese = flag("tokenize_chinese_chars", default: true)
    return rules
  }

  /// Returns a special token of BERT, such as `[CLS]` for `cls`.
  fileprivate func token(_ name: String) -> String { text("\(name)_token", default: "[\(name.uppercased())]") }

  fileprivate func bertVocabulary() throws(FormatError) -> BertTokens.Vocabulary {
    let tokens = try required("vocab_file").utf8.split { $0 == 0x0A || $0 == 0x0D }
    let numbers = Dictionary(tokens.enumerated().map { (ExactString(String(Substring($1))), $0) }) { $1 }
    func number(_ name: String) throws(FormatError) -> Int {
      guard let number = numbers[ExactString(token(name))] else {
        throw malformed("its vocab_file of \(tokens.count) tokens has no '\(token(name))'")
      }
      return number
    }
    _ = (try number("pad"), try number("mask"))
    return BertTokens.Vocabulary(
      WordPieces(numbers, continuation: text("suffix_indicator", default: "##"), mostScalars: 200),
      unknown: try number("unk"), classification: try number("cls"), separator: try number("sep"))
  }

  /// Returns the token numbers of an attribute with a JSON object.
  func vocabularyDocument(_ name: String) throws(FormatError) -> [ExactString: Int] {
    guard let document = VocabularyDocument(try required(name)) else {
      throw malformed("its \(name) is not a JSON object of token numbers")
    }
    return document.numbers
  }
}
