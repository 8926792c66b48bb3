/// What an input of a model that reads tokens is for.
public enum TokenInput: String, Hashable, Sendable, CaseIterable {
  /// The tokens' numbers.
  case numbers = "ids"
  /// 1 where there is a token, 0 behind the last.
  case mask
  /// Which of two texts a token is of.
  case types
  /// The tokens' places, from 0.
  case positions

  /// As exporters call it, letters and digits alone.
  var names: Set<String> {
    switch self {
    case .numbers: ["inputids", "inputwordids", "wordids", "tokenids", "ids", "tokens", "input", "inputids0"]
    case .mask: ["attentionmask", "inputmask", "mask", "wordmask", "paddingmask"]
    case .types: ["tokentypeids", "segmentids", "inputtypeids", "wordtypes", "typeids", "tokentypes", "segments"]
    case .positions: ["positionids", "positions", "wordpositions"]
    }
  }
}
