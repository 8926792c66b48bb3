/// What an input or output of a decoder is for, where its name does not say so.
///
/// A step reads S tokens behind the P that were read before it; T = P + S.
public enum TokenRole: Hashable, Sendable {
  /// An input: the tokens that are read, integers `[S]` or `[1, S]`.
  case tokens
  /// An input: the place of each of them, counted from 0, integers `[S]` or `[1, S]`.
  case positions
  /// An input: what may be seen. `[1, T]` of ones; of more axes `[…, S, T]`, ones where a token sees another, or in floats
  /// zeros there and the most negative float16 elsewhere.
  case mask
  /// An input: P.
  case pastLength
  /// An input: T.
  case totalLength
  /// An input: T − 1.
  case lastPosition
  /// An input: what the named output gave in the step before; of no tokens, or of zeros, in the first one.
  case past(present: String)
  /// The output with a score for each token that may come next, `[…, S, vocabulary]`.
  case scores

  /// As a command line spells it: `positions`, `past-length`, `past:NAME` with the name of an output.
  package init?(_ text: String) {
    let names: [String: TokenRole] = [
      "tokens": .tokens, "positions": .positions, "mask": .mask, "past-length": .pastLength,
      "total-length": .totalLength, "last-position": .lastPosition, "scores": .scores,
    ]
    if let role = names[text] {
      self = role
    } else if text.hasPrefix("past:"), text.count > 5 {
      self = .past(present: String(text.dropFirst(5)))
    } else {
      return nil
    }
  }

  /// What a command line may say.
  package static let spellings =
    "tokens, positions, mask, past-length, total-length, last-position, scores, or past:OUTPUT"

  /// What an integer input's name says; nil where it says nothing.
  init?(integer name: String) {
    let name = name.lowercased()
    func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
    if has("mask") {
      self = .mask
    } else if has("total") {
      self = .totalLength
    } else if has("seqlens_k", "last_pos") {
      self = .lastPosition
    } else if has("pos") {
      self = .positions
    } else if has("past", "cache", "offset", "length") {
      self = .pastLength
    } else if has("ids", "token", "input") {
      self = .tokens
    } else {
      return nil
    }
  }
}
