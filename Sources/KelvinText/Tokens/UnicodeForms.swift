// Swift's standard library exposes the decomposition of scalars only under this SPI.
@_spi(_Unicode) import Swift

extension Unicode.Scalar {
  /// The canonical decomposition (NFD) of the scalar.
  var decomposed: [Unicode.Scalar] {
    guard value >= 0xC0 else { return [self] }
    return Array(String(self)._nfd)
  }

  /// The lowercase mapping of the scalar, independent of its context.
  var lowercased: String.UnicodeScalarView { properties.lowercaseMapping.unicodeScalars }

  var isNonspacingMark: Bool { value >= 0x300 && properties.generalCategory == .nonspacingMark }

  /// Whether BERT drops the scalar: control, format and private use characters, except for line ends and tabs, which
  /// BERT treats as spaces.
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

  /// Whether the scalar is in a block of Chinese characters, each of which BERT treats as a word. Japanese kana and
  /// Korean letters are not in these blocks.
  var isChinese: Bool {
    switch value {
    case 0x4E00...0x9FFF, 0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B73F, 0x2B740...0x2B81F, 0x2B920...0x2CEAF,
      0xF900...0xFAFF, 0x2F800...0x2FA1F:
      true
    default: false
    }
  }

  /// Whether BERT treats the scalar as punctuation: all ASCII characters except letters, digits, spaces and controls,
  /// and Unicode punctuation.
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
