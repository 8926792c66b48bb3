package import KelvinGraph

/// Replaces matches of a regular expression (`StringRegexReplace` and `StringECMARegexReplace` of
/// onnxruntime-extensions). Inputs: strings, the expression, the replacement. A replacement refers to groups as `\1` in
/// RE2's syntax and as `$1` in ECMAScript's, which matches bytes.
package struct StringReplacement: SlotOperation {
  package static let name = "string_replacement"
  package let dialect: RegularExpression.Dialect
  /// Whether all matches are replaced, not only the first.
  package let isGlobal: Bool
  package let slots: HostSlots

  package init(_ dialect: RegularExpression.Dialect, isGlobal: Bool, _ slots: HostSlots) {
    self.dialect = dialect
    self.isGlobal = isGlobal
    self.slots = slots
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { [inputs[0]] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let expression = try expression(try string(1, inputs), dialect, at: 1)
    let rewrite = try RewriteParts(try string(2, inputs), dialect, of: self, at: 2)
    // RE2 leaves the strings as they are if the replacement refers to a group that the expression does not have.
    if dialect == .re2, rewrite.mostGroup > expression.groupCount { return [inputs[0]] }
    var replaced: [String] = []
    for string in strings.strings {
      let units = dialect == .re2 ? string.unicodeScalars.map(\.value) : string.utf8.map { UInt32($0) }
      replaced.append(try self.string(replacing(expression, rewrite, in: units)))
    }
    return [try limited(replaced, strings.shape)]
  }

  private func replacing(_ expression: RegularExpression, _ rewrite: RewriteParts, in text: [UInt32]) -> [UInt32] {
    var result: [UInt32] = []
    var last: Range<Int>?
    while let groups = next(expression, in: text, after: last), let whole = groups[0] {
      let before = (last?.upperBound ?? 0)..<whole.lowerBound
      result += text[before]
      result += rewrite.text(for: groups, before: before, in: text)
      last = whole
      if !isGlobal { break }
    }
    return result + text[(last?.upperBound ?? 0)...]
  }

  /// Returns the match after another one. RE2 has no empty match right after a match; ECMAScript has one unless the
  /// match before is empty, and a match of characters at that position comes first.
  private func next(
    _ expression: RegularExpression, in text: [UInt32], after last: Range<Int>?
  ) -> RegularExpression.Groups? {
    guard let last else { return expression.firstGroups(in: text, from: 0) }
    let end = last.upperBound
    if dialect == .re2 || !last.isEmpty {
      guard let groups = expression.firstGroups(in: text, from: end), let whole = groups[0] else { return nil }
      if dialect != .re2 || !whole.isEmpty || whole.lowerBound > end { return groups }
    } else if let groups = expression.firstGroups(in: text, from: end, isAnchored: true, mayBeEmpty: false) {
      return groups
    }
    return end < text.count ? expression.firstGroups(in: text, from: end + 1) : nil
  }

  private func string(_ units: [UInt32]) throws(HostOperationError) -> String {
    if dialect == .re2 { return String(String.UnicodeScalarView(units.compactMap(Unicode.Scalar.init))) }
    guard let string = String(validating: units.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self) else {
      throw refused(0, "the expression takes a character that is not ASCII apart", remedy: "match whole characters")
    }
    return string
  }
}

extension HostOperation {
  /// Compiles the regular expression that an input gives.
  func expression(
    _ pattern: String, _ dialect: RegularExpression.Dialect = .re2, at position: Int
  ) throws(HostOperationError) -> RegularExpression {
    guard !pattern.isEmpty else { throw refused(position, "the expression is empty", remedy: "give one") }
    do throws(RegularExpression.SyntaxError) { return try RegularExpression(pattern, dialect) } catch {
      throw refused(position, "the expression '\(pattern.prefix(64))' cannot be read: \(error.reason)")
    }
  }
}

/// The parts of a replacement: literal units and references to what was matched.
private struct RewriteParts {
  private enum Part {
    case literal([UInt32])
    case group(Int)
    /// The string between the match before and this one, or behind this one.
    case before, behind
  }

  private var parts: [Part] = []

  /// The greatest group that the replacement refers to.
  var mostGroup: Int { parts.reduce(0) { if case .group(let number) = $1 { max($0, number) } else { $0 } } }

  init(
    _ text: String, _ dialect: RegularExpression.Dialect, of step: some HostOperation, at position: Int
  ) throws(HostOperationError) {
    var rest = (dialect == .re2 ? text.unicodeScalars.map(\.value) : text.utf8.map { UInt32($0) })[...]
    let mark: UInt32 = dialect == .re2 ? 0x5C : 0x24
    while let unit = rest.popFirst() {
      if unit != mark {
        parts.append(.literal([unit]))
      } else if dialect == .re2 {
        guard let next = rest.popFirst(), next == mark || (48...57).contains(next) else {
          throw step.refused(position, "a backslash is not followed by a digit", remedy: "write '\\\\' for a backslash")
        }
        parts.append(next == mark ? .literal([mark]) : .group(Int(next) - 48))
      } else {
        parts.append(Self.reference(&rest))
      }
    }
  }

  /// Reads what follows a `$` in ECMAScript's syntax.
  private static func reference(_ rest: inout ArraySlice<UInt32>) -> Part {
    let digits = rest.prefix(2).prefix { (48...57).contains($0) }
    if !digits.isEmpty {
      rest.removeFirst(digits.count)
      return .group(digits.reduce(0) { $0 * 10 + Int($1) - 48 })
    }
    let part: Part? =
      switch rest.first {
      case 0x24: .literal([0x24])
      case 0x26: .group(0)
      case 0x60: .before
      case 0x27: .behind
      default: nil
      }
    if part != nil { rest.removeFirst() }
    return part ?? .literal([0x24])
  }

  /// Returns the replacement of a match, given the part between it and the match before.
  func text(for groups: RegularExpression.Groups, before: Range<Int>, in text: [UInt32]) -> [UInt32] {
    let whole = groups[0] ?? 0..<0
    return parts.flatMap { part -> [UInt32] in
      switch part {
      case .literal(let units): units
      case .group(let number): groups.indices.contains(number) ? groups[number].map { Array(text[$0]) } ?? [] : []
      case .before: Array(text[before])
      case .behind: Array(text[whole.upperBound...])
      }
    }
  }
}
