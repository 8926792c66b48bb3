/// The parts of a text that byte pair encoding tokenizes by themselves, as GPT-2 splits texts: contractions, letters,
/// numbers and other characters, each with a space before, and spaces.
///
/// Reference: Radford et al., "Language models are unsupervised multitask learners" (2019), encoder.py.
struct PreTokens: Sequence, IteratorProtocol {
  private var rest: ArraySlice<Unicode.Scalar>

  init(of text: ArraySlice<Unicode.Scalar>) { rest = text }

  mutating func next() -> ArraySlice<Unicode.Scalar>? {
    guard let first = rest.first else { return nil }
    let count = contraction ?? word(first) ?? spaces
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  private var contraction: Int? {
    for ending in ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"] where rest.starts(with: ending.unicodeScalars) {
      return ending.unicodeScalars.count
    }
    return nil
  }

  /// The number of scalars of one kind, with a space before.
  private func word(_ first: Unicode.Scalar) -> Int? {
    let start = first == " " && rest.count > 1 ? rest.startIndex + 1 : rest.startIndex
    let kind = Kind(rest[start])
    guard kind != .space else { return nil }
    return start - rest.startIndex + rest[start...].prefix { Kind($0) == kind }.count
  }

  /// The number of spaces, without the one before a word unless it is the only one.
  private var spaces: Int {
    let count = rest.prefix { Kind($0) == .space }.count
    return count > 1 && count < rest.count ? count - 1 : count
  }

  private enum Kind {
    case letter, number, space, other

    init(_ scalar: Unicode.Scalar) {
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: self = .letter
      case .decimalNumber, .letterNumber, .otherNumber: self = .number
      case .spaceSeparator, .lineSeparator, .paragraphSeparator: self = .space
      default: self = (9...13).contains(scalar.value) ? .space : .other
      }
    }
  }
}
