import KelvinBasics

/// A parser of regular expressions in the syntax of RE2, or in the part of ECMAScript's syntax that RE2 has as well.
struct RegularExpressionParser {
  private typealias Node = RegularExpressionNode
  typealias SyntaxError = RegularExpression.SyntaxError

  private let scalars: [Unicode.Scalar]
  private var place = 0
  private var depth = 0
  private var flags = Flags()
  /// Whether the position is between `\Q` and `\E`, where all scalars are literal.
  private var isQuoted = false

  /// The number of capturing groups so far.
  private(set) var groupCount = 0
  private let isECMAScript: Bool

  private struct Flags {
    var foldsCase = false
    var hasLines = false
    var dotIsAny = false
    /// Whether repetitions are lazy, and those with the suffix `?` are not.
    var isLazy = false
  }

  private static let depthLimit = 200
  private static let repetitionLimit = 1000

  /// Creates a parser. For ECMAScript, each byte of the pattern is a scalar, because matching is of bytes.
  init(_ pattern: String, _ dialect: RegularExpression.Dialect) {
    switch dialect {
    case .re2:
      isECMAScript = false
      scalars = Array(pattern.unicodeScalars)
    case .ecmaScript(let foldsCase):
      isECMAScript = true
      scalars = pattern.utf8.map { Unicode.Scalar($0) }
      flags.foldsCase = foldsCase
    }
  }

  mutating func parsed() throws(SyntaxError) -> RegularExpressionNode {
    let node = try choice()
    guard place == scalars.count else { throw SyntaxError(reason: "')' at \(place) closes nothing") }
    return node
  }

  private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private mutating func take(_ text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    guard scalars[place...].starts(with: wanted) else { return false }
    place += wanted.count
    return true
  }

  private mutating func choice() throws(SyntaxError) -> Node {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else { throw SyntaxError(reason: "groups are nested too deeply") }
    let outer = flags
    var choices = [try sequence()]
    while take("|") { choices.append(try sequence()) }
    flags = outer
    return choices.count == 1 ? choices[0] : .choice(choices)
  }

  private mutating func sequence() throws(SyntaxError) -> Node {
    var nodes: [Node] = []
    while let scalar = next, isQuoted || scalar != "|" && scalar != ")" {
      guard let atom = try atom() else { continue }
      if isQuoted, take("\\E") { isQuoted = false }
      nodes.append(isQuoted ? atom : try repeated(atom))
    }
    return .sequence(nodes)
  }

  /// Reads an atom; returns nil if the text only changes how the rest is read.
  private mutating func atom() throws(SyntaxError) -> Node? {
    if isQuoted ? take("\\E") : take("\\Q") {
      isQuoted.toggle()
      return nil
    }
    let start = place
    let scalar = scalars[place]
    place += 1
    if isQuoted { return .scalars(literal(scalar.value)) }
    switch scalar {
    case "(": return try group()
    case "[": return .scalars(try brackets())
    case ".":
      let others: [ClosedRange<UInt32>] = isECMAScript ? [10...10, 13...13] : [10...10]
      return .scalars(ScalarSet(ranges: flags.dotIsAny ? [] : others, isInverted: true))
    case "^": return .assertion(flags.hasLines ? .lineStart : .start)
    case "$": return .assertion(flags.hasLines ? .lineEnd : .end)
    case "*", "+", "?": throw SyntaxError(reason: "'\(scalar)' at \(start) repeats nothing")
    case "\\": return try escape()
    default: return .scalars(literal(scalar.value))
    }
  }

  private func literal(_ value: UInt32) -> ScalarSet {
    ScalarSet(ranges: [value...value], foldsCase: flags.foldsCase)
  }

  private mutating func group() throws(SyntaxError) -> Node? {
    let outer = flags
    var isCapturing = true
    if take("?") {
      if take("P<") || take("<") {
        guard let end = scalars[place...].firstIndex(of: ">"), end > place else {
          throw SyntaxError(reason: "the name of a group does not end")
        }
        place = end + 1
      } else if try !flagsAreOfGroup() {
        return nil
      } else {
        isCapturing = false
      }
    }
    if isCapturing { groupCount += 1 }
    let number = groupCount
    let node = try choice()
    flags = outer
    guard take(")") else { throw SyntaxError(reason: "a group does not end") }
    return isCapturing ? .group(node, number) : node
  }

  /// Reads `i-s:` or `i)`, and returns whether the flags belong to a group that follows.
  private mutating func flagsAreOfGroup() throws(SyntaxError) -> Bool {
    var isSet = true
    while let scalar = next {
      place += 1
      switch scalar {
      case "i": flags.foldsCase = isSet
      case "m": flags.hasLines = isSet
      case "s": flags.dotIsAny = isSet
      case "U": flags.isLazy = isSet
      case "-": isSet = false
      case ":": return true
      case ")": return false
      default: throw SyntaxError(reason: "'(?\(scalar)' is not known")
      }
    }
    throw SyntaxError(reason: "a group does not end")
  }

  private mutating func repeated(_ node: Node) throws(SyntaxError) -> Node {
    let counts: ClosedRange<Int>
    if take("*") {
      counts = 0...Int.max
    } else if take("+") {
      counts = 1...Int.max
    } else if take("?") {
      counts = 0...1
    } else if let given = try braces() {
      counts = given
    } else {
      return node
    }
    let isLazy = take("?") != flags.isLazy
    let before = place
    var isRepeated = take("*") || take("+") || take("?")
    if !isRepeated { isRepeated = try braces() != nil }
    guard !isRepeated else { throw SyntaxError(reason: "a repetition at \(before) repeats a repetition") }
    return .repetition(node, counts, isLazy: isLazy)
  }

  /// Reads `{n}`, `{n,}` or `{n,m}`; returns nil without reading if the brace is a literal.
  private mutating func braces() throws(SyntaxError) -> ClosedRange<Int>? {
    let start = place
    guard take("{"), let least = number() else {
      place = start
      return nil
    }
    var most = least
    if take(",") { most = next == "}" ? Int.max : number() ?? -1 }
    guard take("}"), most >= 0 else {
      place = start
      return nil
    }
    guard least <= Self.repetitionLimit, most == .max || most <= Self.repetitionLimit, least <= most else {
      throw SyntaxError(reason: "repetition counts go up to \(Self.repetitionLimit), the smaller first")
    }
    return least...most
  }

  private mutating func number() -> Int? {
    let digits = scalars[place...].prefix { ("0"..."9").contains($0) }
    guard (1...9).contains(digits.count) else { return nil }
    place += digits.count
    return digits.reduce(0) { $0 * 10 + Int($1.value - 48) }
  }

  /// Reads the rest of an escape sequence outside of brackets.
  private mutating func escape() throws(SyntaxError) -> Node {
    if take("A") { return .assertion(.start) }
    if take("z") { return .assertion(.end) }
    if take("b") { return .assertion(.wordBoundary) }
    if take("B") { return .assertion(.noWordBoundary) }
    if let set = try knownClass() { return .scalars(set) }
    return .scalars(literal(try escapedScalar()))
  }

  /// Reads `\d`, `\s`, `\w`, a Unicode category such as `\pL` or `\p{Lu}`, or a complement.
  private mutating func knownClass() throws(SyntaxError) -> ScalarSet? {
    for name in isECMAScript ? [] : ["p", "P"] where take(name) {
      let isLong = take("{")
      let isInverted = (isLong && take("^")) != (name == "P")
      let letters = scalars[place...].prefix { $0.isASCII && $0.properties.isAlphabetic }.prefix(isLong ? 64 : 1)
      place += letters.count
      let category = String(String.UnicodeScalarView(letters))
      guard let found = ScalarSet.categories[ExactString(category)], !isLong || take("}") else {
        throw SyntaxError(reason: "'\\p{\(category)}' is not a general category, expected one such as L or Lu")
      }
      return ScalarSet(categories: isInverted ? ScalarSet.allCategories.subtracting(found) : found)
    }
    for (name, set) in [("d", ScalarSet.digit), ("s", isECMAScript ? .wideSpace : .space), ("w", .word)] {
      if take(name) { return set }
      if take(name.uppercased()) { return ScalarSet(ranges: set.ranges, isInverted: true) }
    }
    return nil
  }

  private mutating func escapedScalar() throws(SyntaxError) -> UInt32 {
    guard let scalar = next else { throw SyntaxError(reason: "it ends in a backslash") }
    place += 1
    switch scalar {
    case "a": return 7
    case "f": return 12
    case "n": return 10
    case "r": return 13
    case "t": return 9
    case "v": return 11
    case "x":
      let isLong = take("{")
      let digits = scalars[place...].prefix { $0.properties.isASCIIHexDigit }.prefix(isLong ? 6 : 2)
      let text = String(String.UnicodeScalarView(digits))
      place += digits.count
      guard let value = UInt32(text, radix: 16), value <= 0x10FFFF, isLong ? take("}") : digits.count == 2 else {
        throw SyntaxError(reason: "'\\x' at \(place) has no number")
      }
      return value
    case "0"..."7":
      let digits = [scalar] + scalars[place...].prefix(2).prefix { ("0"..."7").contains($0) }
      guard scalar == "0" || digits.count == 3 else { throw SyntaxError(reason: "'\\\(scalar)' refers to a group") }
      place += digits.count - 1
      return digits.reduce(0) { $0 * 8 + $1.value - 48 }
    case let mark
    where mark.isASCII && !("a"..."z").contains(mark) && !("A"..."Z").contains(mark)
      && !("8"..."9").contains(mark):
      return mark.value
    default: throw SyntaxError(reason: "'\\\(scalar)' is not known")
    }
  }

  /// Reads the rest of a bracket expression.
  private mutating func brackets() throws(SyntaxError) -> ScalarSet {
    var set = ScalarSet(isInverted: take("^"), foldsCase: flags.foldsCase)
    var isFirst = true
    while let scalar = next {
      if scalar == "]", !isFirst {
        place += 1
        return set
      }
      isFirst = false
      if take("[:") {
        set.ranges += try namedClass()
        continue
      }
      var low = scalar.value
      place += 1
      if scalar == "\\" {
        if let known = try knownClass() {
          set.ranges += known.isInverted ? known.complement : known.ranges
          set.categories.formUnion(known.categories)
          continue
        }
        low = try escapedScalar()
      }
      guard next == "-", place + 1 < scalars.count, scalars[place + 1] != "]" else {
        set.ranges.append(low...low)
        continue
      }
      place += 1
      var high = scalars[place].value
      place += 1
      if high == 92 { high = try escapedScalar() }
      guard low <= high else { throw SyntaxError(reason: "a character range at \(place) goes down") }
      set.ranges.append(low...high)
    }
    throw SyntaxError(reason: "brackets do not end")
  }

  /// Reads the rest of a named class after `[:`: `alpha:]` or `^alpha:]`.
  private mutating func namedClass() throws(SyntaxError) -> [ClosedRange<UInt32>] {
    let isInverted = take("^")
    let name = String(String.UnicodeScalarView(scalars[place...].prefix { $0.isASCII && $0.properties.isAlphabetic }))
    place += name.unicodeScalars.count
    guard take(":]"), let ranges = ScalarSet.named[name] else {
      throw SyntaxError(reason: "there is no class [:\(name):]")
    }
    return isInverted ? ScalarSet(ranges: ranges).complement : ranges
  }
}

extension ScalarSet {
  static let digit = ScalarSet(ranges: [48...57])
  static let space = ScalarSet(ranges: [9...10, 12...13, 32...32])
  /// ASCII's spaces with the vertical tab.
  fileprivate static let wideSpace = ScalarSet(ranges: [9...13, 32...32])
  static let word = ScalarSet(ranges: [48...57, 65...90, 95...95, 97...122])

  /// The POSIX classes, for ASCII.
  fileprivate static let named: [String: [ClosedRange<UInt32>]] = [
    "alnum": [48...57, 65...90, 97...122], "alpha": [65...90, 97...122], "ascii": [0...127], "blank": [9...9, 32...32],
    "cntrl": [0...31, 127...127], "digit": [48...57], "graph": [33...126], "lower": [97...122], "print": [32...126],
    "punct": [33...47, 58...64, 91...96, 123...126], "space": [9...13, 32...32], "upper": [65...90],
    "word": [48...57, 65...90, 95...95, 97...122], "xdigit": [48...57, 65...70, 97...102],
  ]

  /// All other scalars.
  fileprivate var complement: [ClosedRange<UInt32>] {
    var others: [ClosedRange<UInt32>] = []
    var from: UInt32 = 0
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > from { others.append(from...range.lowerBound - 1) }
      from = max(from, range.upperBound + 1)
    }
    return others + [from...0x10FFFF]
  }
}
