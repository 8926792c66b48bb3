/// The role of a token model's input.
public enum TokenInput: String, Hashable, Sendable, CaseIterable {
  /// The token IDs.
  case numbers = "ids"
  /// The attention mask: 1 for a token, 0 for padding.
  case mask
  /// The token types, which tell the first text from the second.
  case types
  /// The positions of the tokens, from 0.
  case positions

  /// The names that exporters use, reduced to letters and digits.
  var names: Set<String> {
    switch self {
    case .numbers: ["inputids", "inputwordids", "wordids", "tokenids", "ids", "tokens", "input", "inputids0"]
    case .mask: ["attentionmask", "inputmask", "mask", "wordmask", "paddingmask"]
    case .types: ["tokentypeids", "segmentids", "inputtypeids", "wordtypes", "typeids", "tokentypes", "segments"]
    case .positions: ["positionids", "positions", "wordpositions"]
    }
  }
}
