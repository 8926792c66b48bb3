import KelvinBasics

/// A regular expression in the syntax of RE2, without backreferences. Matching takes time proportional to the product
/// of the lengths of the expression and of the string.
///
/// Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009).
package struct RegularExpression: Hashable, Sendable {
  package let pattern: String
  package let dialect: Dialect
  /// The number of capturing groups.
  let groupCount: Int
  let program: RegularExpressionProgram

  /// The syntax of an expression.
  package enum Dialect: Hashable, Sendable {
    case re2
    /// The part of ECMAScript's syntax that RE2 has as well; `.` does not match a carriage return, and `\s` matches a
    /// vertical tab.
    case ecmaScript(foldsCase: Bool)
  }

  /// Compiles an expression.
  ///
  /// - Throws: `SyntaxError` for an expression that is invalid or too large.
  package init(_ pattern: String, _ dialect: Dialect = .re2) throws(SyntaxError) {
    self.pattern = pattern
    self.dialect = dialect
    var parser = RegularExpressionParser(pattern, dialect)
    program = try RegularExpressionProgram(.group(try parser.parsed(), 0))
    groupCount = parser.groupCount
  }

  package struct SyntaxError: Error, Hashable, Sendable {
    package let reason: String
  }

  /// Whether the expression matches the whole string.
  package func matches(_ text: String) -> Bool { program.matches(text.unicodeScalars.map(\.value)) }

  /// Returns the matches in a string from left to right: each the longest at the first possible position after the
  /// previous match. Empty matches are omitted.
  package func occurrences(in text: [Unicode.Scalar]) -> [Range<Int>] {
    let scalars = text.map(\.value)
    var (found, place): ([Range<Int>], Int) = ([], 0)
    while place < scalars.count, let match = program.firstMatch(in: scalars, from: place) {
      if !match.isEmpty { found.append(match) }
      place = max(match.upperBound, match.lowerBound + 1)
    }
    return found
  }

  package static func == (a: RegularExpression, b: RegularExpression) -> Bool {
    a.dialect == b.dialect && ExactString(a.pattern) == ExactString(b.pattern)
  }
  package func hash(into hasher: inout Hasher) { hasher.combine(ExactString(pattern)) }
}

/// A node of an expression's syntax tree.
indirect enum RegularExpressionNode: Sendable {
  case scalars(ScalarSet)
  case assertion(TextPosition)
  case sequence([RegularExpressionNode])
  case choice([RegularExpressionNode])
  /// A repetition, which prefers few iterations if it is lazy.
  case repetition(RegularExpressionNode, ClosedRange<Int>, isLazy: Bool)
  /// A capturing group with its number.
  case group(RegularExpressionNode, Int)
}

/// A condition on a position between scalars.
enum TextPosition: Sendable {
  case start, end, lineStart, lineEnd, wordBoundary, noWordBoundary
}

/// A set of Unicode scalars, by their numbers.
struct ScalarSet: Sendable {
  var ranges: [ClosedRange<UInt32>] = []
  /// The general categories of further scalars.
  var categories: Set<Unicode.GeneralCategory> = []
  var isInverted = false
  var foldsCase = false

  func contains(_ scalar: UInt32) -> Bool {
    var isIn = ranges.contains { $0.contains(scalar) }
    if !isIn, !categories.isEmpty, let scalar = Unicode.Scalar(scalar) {
      isIn = categories.contains(scalar.properties.generalCategory)
    }
    if !isIn, foldsCase, let properties = Unicode.Scalar(scalar)?.properties {
      isIn = [properties.lowercaseMapping, properties.uppercaseMapping].contains { mapped in
        let scalars = mapped.unicodeScalars
        return scalars.count == 1 && ranges.contains { $0.contains(scalars.first?.value ?? 0) }
      }
    }
    return isIn != isInverted
  }
}

/// An expression compiled to a nondeterministic machine, which is in all possible states at once.
struct RegularExpressionProgram: Sendable {
  enum Step: Sendable {
    case read(ScalarSet)
    case check(TextPosition)
    /// The steps that may follow, in order of preference.
    case jump([Int])
    /// Saves the position of an end of a group: the start of group n is save 2n, and its end save 2n + 1.
    case save(Int)
    case matched
  }

  private(set) var steps: [Step] = []
  private var written = 0

  init(_ node: RegularExpressionNode) throws(RegularExpression.SyntaxError) {
    try append(node)
    try append(.matched)
  }

  /// The greatest number of steps. Nested repetition counts multiply, also for empty contents.
  private static let limit = 1 << 16

  private mutating func append(_ step: Step) throws(RegularExpression.SyntaxError) {
    try count()
    steps.append(step)
  }

  private mutating func count() throws(RegularExpression.SyntaxError) {
    written += 1
    guard written <= Self.limit else {
      throw RegularExpression.SyntaxError(reason: "it expands to more than \(Self.limit) parts")
    }
  }

  private mutating func append(_ node: RegularExpressionNode) throws(RegularExpression.SyntaxError) {
    try count()
    switch node {
    case .scalars(let set): try append(.read(set))
    case .assertion(let position): try append(.check(position))
    case .sequence(let nodes): for node in nodes { try append(node) }
    case .choice(let nodes):
      let fork = steps.count
      try append(.jump([]))
      var (starts, ends): ([Int], [Int]) = ([], [])
      for node in nodes {
        starts.append(steps.count)
        try append(node)
        ends.append(steps.count)
        try append(.jump([]))
      }
      steps[fork] = .jump(starts)
      for end in ends { steps[end] = .jump([steps.count]) }
    case .group(let node, let number):
      try append(.save(2 * number))
      try append(node)
      try append(.save(2 * number + 1))
    case .repetition(let node, let counts, let isLazy):
      func choice(_ again: Int, _ end: Int) -> Step { .jump(isLazy ? [end, again] : [again, end]) }
      for _ in 0..<counts.lowerBound { try append(node) }
      let fork = steps.count
      if counts.upperBound == .max {
        try append(.jump([]))
        try append(node)
        try append(.jump([fork]))
        steps[fork] = choice(fork + 1, steps.count)
      } else {
        var forks: [Int] = []
        for _ in counts.lowerBound..<counts.upperBound {
          forks.append(steps.count)
          try append(.jump([]))
          try append(node)
        }
        for fork in forks { steps[fork] = choice(fork + 1, steps.count) }
      }
    }
  }

  func matches(_ text: [UInt32]) -> Bool {
    var seen = [Int](repeating: -1, count: steps.count)
    var states = reached([0], in: text, at: 0, &seen)
    for (place, scalar) in text.enumerated() {
      var next: [Int] = []
      for state in states {
        if case .read(let set) = steps[state], set.contains(scalar) { next.append(state + 1) }
      }
      guard !next.isEmpty else { return false }
      states = reached(next, in: text, at: place + 1, &seen)
    }
    return states.contains { if case .matched = steps[$0] { true } else { false } }
  }

  /// Returns the first match that begins at or after a position; of the matches that begin there, the longest.
  func firstMatch(in text: [UInt32], from start: Int) -> Range<Int>? {
    var seen = [Int](repeating: -1, count: steps.count)
    var found: Range<Int>?
    // The states with the positions where their matches begin, in ascending order of these; a repeated state keeps the
    // first position.
    var threads: [(state: Int, start: Int)] = []
    for place in start...text.count {
      if found == nil { threads.append((0, place)) }
      var next: [(state: Int, start: Int)] = []
      for thread in threads where found.map({ thread.start <= $0.lowerBound }) ?? true {
        for state in reached([thread.state], in: text, at: place, &seen) {
          if case .matched = steps[state] {
            found = thread.start..<place
          } else if place < text.count, case .read(let set) = steps[state], set.contains(text[place]) {
            next.append((state + 1, thread.start))
          }
        }
      }
      if found != nil, next.isEmpty { break }
      threads = next
    }
    return found
  }

  /// Returns the states that read a scalar or have matched, reachable from the given states without reading.
  private func reached(_ states: [Int], in text: [UInt32], at place: Int, _ seen: inout [Int]) -> [Int] {
    var reached: [Int] = []
    var pending = states
    while let state = pending.popLast() {
      guard seen[state] != place else { continue }
      seen[state] = place
      switch steps[state] {
      case .read, .matched: reached.append(state)
      case .check(let position): if position.holds(in: text, at: place) { pending.append(state + 1) }
      case .save: pending.append(state + 1)
      case .jump(let places): pending += places
      }
    }
    return reached
  }
}

extension TextPosition {
  func holds(in text: [UInt32], at place: Int) -> Bool {
    let newline: UInt32 = 10
    let before = place > 0 ? text[place - 1] : nil
    let after = place < text.count ? text[place] : nil
    let isBoundary = (before.map(ScalarSet.word.contains) ?? false) != (after.map(ScalarSet.word.contains) ?? false)
    return switch self {
    case .start: before == nil
    case .end: after == nil
    case .lineStart: before == nil || before == newline
    case .lineEnd: after == nil || after == newline
    case .wordBoundary: isBoundary
    case .noWordBoundary: !isBoundary
    }
  }
}
