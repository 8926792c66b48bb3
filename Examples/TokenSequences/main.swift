import FoundationEssentials
import Kelvin

/// Encodes a string as its UTF-8 bytes: 256 tokens for every language.
struct ByteTokenizer {
  static let count = 256

  func tokens(of text: String) -> [Int] { text.utf8.map { Int($0) } }

  func text(of tokens: [Int]) -> String { String(decoding: tokens.map { UInt8($0) }, as: UTF8.self) }
}

// Usage: TokenSequences MODEL PROMPT [COUNT]. Continues the prompt with the most likely byte, COUNT times.
let arguments = CommandLine.arguments
let model = try await Model.load(contentsOf: URL(filePath: arguments[1]))
let sequence = try TokenSequence(model)
let tokenizer = ByteTokenizer()
var text = tokenizer.tokens(of: arguments[2])
var scores = try sequence.read(text)
for _ in 0..<(arguments.count > 3 ? Int(arguments[3]) ?? 64 : 64) {
  // The vocabulary may have further tokens that are not bytes.
  let bytes = scores.prefix(ByteTokenizer.count)
  guard let next = bytes.indices.max(by: { bytes[$0] < bytes[$1] }) else { break }
  text.append(next)
  scores = try sequence.read([next])
}
print(tokenizer.text(of: text))
