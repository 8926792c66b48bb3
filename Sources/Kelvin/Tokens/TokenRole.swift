/// The role of a decoder's input or output whose name does not show the role.
///
/// A step reads S tokens after the P tokens read before it; T = P + S.
public enum TokenRole: Hashable, Sendable {
  /// An input: the token IDs, integers `[S]` or `[1, S]`.
  case tokens
  /// An input: the position of each token, counted from 0, integers `[S]` or `[1, S]`.
  case positions
  /// An input: the attention mask. `[1, T]` of ones. With more axes `[…, S, T]`, ones if a token attends to another; in
  /// floating point, zeros there and the most negative float16 elsewhere.
  case mask
  /// An input: P.
  case pastLength
  /// An input: T.
  case totalLength
  /// An input: T − 1.
  case lastPosition
  /// An input: the value of the named output in the previous step. In the first step it is empty or zero.
  case past(present: String)
  /// The output with a score for each token that may come next, `[…, S, vocabulary]`.
  case scores

  /// Creates a role from its command-line syntax: `positions`, `past-length`, `past:NAME` with the name of an output.
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

  /// The roles in their command-line syntax.
  package static let spellings =
    "tokens, positions, mask, past-length, total-length, last-position, scores, or past:OUTPUT"

  /// Returns the role that the name of an integer input suggests; nil for none.
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
