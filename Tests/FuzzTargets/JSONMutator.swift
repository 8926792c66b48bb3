import KelvinBasics

/// Changes a JSON document by its tokens: values become other kinds of value, members and elements are doubled, taken
/// out or moved, brackets nest deeper. The result mostly reads as JSON, so that what is behind the parser is reached.
struct JSONMutator {
  private static let values: [String] = [
    "0", "-1", "1e308", "-1e-308", "1e999", "9223372036854775808", "-9223372036854775809", "0.1", "null", "true",
    "false", "\"\"", "[]", "{}", "\"inf\"", "\"nan\"", "[[]]", "4294967296", "1.5e3", "\"\\u0000\"", "\"\\ud800\"",
  ]

  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Another document; nil where the bytes have no tokens.
  mutating func mutated(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    var tokens = Self.tokens(bytes)
    guard !tokens.isEmpty else { return nil }
    for _ in 0...random.index(below: 3) { change(&tokens) }
    return Array(tokens.joined())
  }

  private mutating func change(_ tokens: inout [[UInt8]]) {
    guard !tokens.isEmpty else { return }
    let place = random.index(below: tokens.count)
    let value = Array(Self.values[random.index(below: Self.values.count)].utf8)
    switch random.index(below: 6) {
    case 0: if Self.isValue(tokens[place]) { tokens[place] = value }
    case 1: tokens[place] = tokens[random.index(below: tokens.count)]
    case 2:
      let span = Self.span(tokens, from: place)
      tokens.removeSubrange(span)
    case 3:
      let span = Self.span(tokens, from: place)
      tokens.insert(contentsOf: [Array(",".utf8)] + tokens[span], at: span.upperBound)
    case 4:
      let span = Self.span(tokens, from: place)
      let depth = 1 + random.index(below: 600)
      tokens.insert([UInt8](repeating: UInt8(ascii: "]"), count: depth), at: span.upperBound)
      tokens.insert([UInt8](repeating: UInt8(ascii: "["), count: depth), at: span.lowerBound)
    default:
      let span = Self.span(tokens, from: place)
      let moved = Array(tokens[span])
      tokens.insert(contentsOf: moved, at: random.index(below: tokens.count + 1))
    }
  }

  /// The value that begins at a token, with all that it holds.
  private static func span(_ tokens: [[UInt8]], from start: Int) -> Range<Int> {
    var depth = 0
    for index in start..<tokens.count {
      switch tokens[index].first {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      if depth <= 0 { return start..<index + 1 }
    }
    return start..<tokens.count
  }

  private static func isValue(_ token: [UInt8]) -> Bool {
    token.first.map { !"{}[]:, \n\t\r".utf8.contains($0) } ?? false
  }

  private static func tokens(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
    var tokens: [[UInt8]] = []
    var index = 0
    while index < bytes.count {
      let start = index
      if bytes[index] == UInt8(ascii: "\"") {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index = min(index + 1, bytes.count)
      } else if "{}[]:, \n\t\r".utf8.contains(bytes[index]) {
        index += 1
      } else {
        while index < bytes.count, !"{}[]:, \n\t\r\"".utf8.contains(bytes[index]) { index += 1 }
      }
      tokens.append(Array(bytes[start..<index]))
    }
    return tokens
  }
}
