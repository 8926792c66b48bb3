import KelvinBasics

/// A name of a Swift declaration.
struct SwiftName: Hashable, CustomStringConvertible {
  /// The name without backticks, for names that are made from it.
  let text: String

  /// Converts a name. Each run of characters that a Swift name cannot contain becomes `_`, and a name that begins with a
  /// digit gets `_` before it: `1` becomes `_1`, and `a/b` becomes `a_b`.
  ///
  /// - Parameter reserved: names that the declaration must not have; it then gets `_` behind it.
  init(_ name: String, reserved: Set<String> = []) {
    var scalars = String.UnicodeScalarView()
    var follows = false
    for scalar in name.unicodeScalars {
      if scalar.isOfNames {
        if scalars.isEmpty, !scalar.beginsNames { scalars.append("_") }
        scalars.append(scalar)
      } else if !follows {
        scalars.append("_")
      }
      follows = !scalar.isOfNames
    }
    var text = String(scalars)
    if text.isEmpty { text = "_" }
    if text == "_" || Self.unusable.contains(text) || reserved.contains(text) { text += "_" }
    self.text = text
  }

  /// The name, in backticks if it is a keyword.
  var description: String { Self.keywords.contains(text) ? "`\(text)`" : text }

  /// The name as the label of an argument in a call, where most keywords have no backticks.
  var label: String { ["inout", "let", "var"].contains(text) ? "`\(text)`" : text }

  /// The name with a capital first letter, if that is a letter of ASCII.
  var capitalized: String {
    guard let first = text.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first else { return text }
    return String(UnicodeScalar(first - 32)) + text.dropFirst()
  }

  /// Words that have a meaning of their own as members, even in backticks.
  private static let unusable: Set<String> = ["init", "self", "Self", "Type", "Protocol", "super"]

  /// Words that are read as keywords at some place where a name may be.
  private static let keywords = Set(
    """
    Any any as associatedtype async await borrowing break case catch class consume consuming continue copy default defer \
    deinit discard do each else enum extension fallthrough false fileprivate for func guard if import in indirect inout \
    internal is isolated let nil nonisolated open operator package precedencegroup private protocol public repeat rethrows \
    return sending some static struct subscript switch then throw throws true try typealias unsafe var where while yield
    """.split(separator: " ").map(String.init))
}

extension Unicode.Scalar {
  /// Whether a name may contain the character: a visible letter, digit or mark, or `_`.
  fileprivate var isOfNames: Bool {
    if isASCII { return self == "_" || properties.isAlphabetic || "0"..."9" ~= self }
    guard !properties.isDefaultIgnorableCodePoint else { return false }
    return switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber,
      .decimalNumber, .nonspacingMark, .spacingMark:
      true
    default: false
    }
  }

  /// Whether a name may begin with the character.
  fileprivate var beginsNames: Bool {
    switch properties.generalCategory {
    case .decimalNumber, .nonspacingMark, .spacingMark: false
    default: true
    }
  }
}

extension String {
  /// The literal of the string in Swift. Characters that are invisible, or that move others, are written as numbers.
  var swiftLiteral: String {
    var literal = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case " "..."~": literal.unicodeScalars.append(scalar)
      case _ where scalar.isOfNames && scalar.beginsNames: literal.unicodeScalars.append(scalar)
      default: literal += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return literal + "\""
  }

  /// The lines of a documentation comment with this text, at most 40 of them. The text cannot end the comment.
  ///
  /// - Parameter indent: the number of spaces before each line.
  func documentation(indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent) + "///"
    let lines = split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .flatMap { String($0).truncatedInMiddle(to: 2000).wrapped(to: 116 - indent) }
    let shown = lines.prefix(40).map { $0.isEmpty ? margin : "\(margin) \($0)" }
    return lines.count > 40 ? shown + ["\(margin) …"] : Array(shown)
  }
}
