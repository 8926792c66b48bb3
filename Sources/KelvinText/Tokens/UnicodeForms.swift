// The standard library decomposes scalars, and shows it under this name alone.
@_spi(_Unicode) import Swift

extension Unicode.Scalar {
  /// The scalar in its canonical decomposition (NFD).
  var decomposed: [Unicode.Scalar] {
    guard value >= 0xC0 else { return [self] }
    return Array(String(self)._nfd)
  }

  /// The scalars of its lower case, whatever stands around it.
  var lowercased: String.UnicodeScalarView { properties.lowercaseMapping.unicodeScalars }

  var isNonspacingMark: Bool { value >= 0x300 && properties.generalCategory == .nonspacingMark }

  /// Controls, formats and private use, which BERT drops; line ends and tabs, which it takes for spaces, are none.
  var isDropped: Bool {
    switch self {
    case "\0", "\u{FFFD}": return true
    case "\t", "\n", "\r": return false
    default: break
    }
    switch properties.generalCategory {
    case .control, .format, .privateUse: return true
    default: return false
    }
  }

  /// The blocks of Chinese characters that BERT takes for words of their own. Japanese and Korean letters are in none.
  var isChinese: Bool {
    switch value {
    case 0x4E00...0x9FFF, 0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B73F, 0x2B740...0x2B81F, 0x2B920...0x2CEAF,
      0xF900...0xFAFF, 0x2F800...0x2FA1F:
      true
    default: false
    }
  }

  /// Punctuation as BERT has it: all that ASCII has besides letters, digits and spaces, and what Unicode calls so.
  var isPunctuation: Bool {
    if isASCII {
      switch value {
      case 33...47, 58...64, 91...96, 123...126: return true
      default: return false
      }
    }
    switch properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
      .finalPunctuation, .otherPunctuation:
      return true
    default: return false
    }
  }
}
