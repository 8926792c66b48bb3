package import KelvinGraph

/// Splits a string into words at spaces, punctuation and Chinese characters, by the character tables of
/// onnxruntime-extensions (`BasicTokenizer`). The tables have fewer characters than Unicode's.
package struct BasicWords: SlotOperation {
  package static let name = "basic_words"

  /// The rules of the split.
  package struct Rules: Hashable, Sendable {
    package var lowercases = true
    package var stripsAccents = false
    package var splitsChinese = true
    package var splitsPunctuation = true
    package var dropsControls = true

    package init() {}
  }

  package let rules: Rules
  package let slots: HostSlots

  package init(_ rules: Rules, _ slots: HostSlots) {
    self.rules = rules
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    [try limited(rules.words(of: try string(0, inputs)).map { String(String.UnicodeScalarView($0)) })]
  }
}

extension BasicWords.Rules {
  func words(of text: String) -> [[Unicode.Scalar]] {
    var words: [[Unicode.Scalar]] = []
    var word: [Unicode.Scalar] = []
    func end() {
      if !word.isEmpty { words.append(word) }
      word = []
    }
    for original in text.unicodeScalars {
      var scalar = stripsAccents ? original.withoutLatin1Accent : original
      if lowercases { scalar = scalar.simplyLowercased }
      if splitsChinese && scalar.isChinese || splitsPunctuation && scalar.isListedPunctuation && !isAccent(scalar) {
        end()
        words.append([scalar])
      } else if isAccent(scalar) || dropsControls && scalar.isListedControl && !scalar.isListedSpace {
        continue
      } else if scalar.isListedSpace {
        end()
      } else {
        word.append(scalar)
      }
    }
    end()
    return words
  }

  private func isAccent(_ scalar: Unicode.Scalar) -> Bool { stripsAccents && (0x300...0x36F).contains(scalar.value) }
}

extension Unicode.Scalar {
  /// The letters U+00C0 to U+00FF without their accents.
  private static let bareLatin1 = Array(
    "AAAAAA\u{C6}CEEEEIIII\u{D0}NOOOOO\u{D7}\u{D8}UUUUY\u{DE}\u{DF}aaaaaa\u{E6}ceeeeiiii\u{F0}nooooo\u{F7}\u{F8}uuuuy\u{FE}y"
      .unicodeScalars)

  fileprivate var withoutLatin1Accent: Unicode.Scalar {
    (0xC0...0xFF).contains(value) ? Self.bareLatin1[Int(value) - 0xC0] : self
  }

  fileprivate var isChinese: Bool {
    switch value {
    case 0x4E00...0x9FFF, 0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B73F, 0x2B740...0x2B81F, 0x2B820...0x2CEAF,
      0xF900...0xFAFF, 0x2F800...0x2FA1F:
      true
    default: false
    }
  }

  fileprivate var isListedSpace: Bool {
    switch value {
    case 9, 10, 13, 32, 160, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: true
    default: false
    }
  }

  var isListedPunctuation: Bool {
    switch value {
    case 33...47, 58...64, 91...96, 123...126, 161, 167, 171, 182...183, 187, 191, 894, 903, 0x2010...0x2027,
      0x2030...0x2043, 0x2045...0x2051, 0x2053...0x205E, 0x3001...0x3003, 0x3008...0x3011, 0x3014...0x301F, 0x3030,
      0x303D:
      true
    default: false
    }
  }

  fileprivate var isListedControl: Bool {
    switch value {
    case 0...8, 11...12, 14...31, 128...159, 173, 888...889, 896...899, 907, 909, 930, 0x200B...0x200F, 0x202A...0x202E,
      0x2060...0x206E, 0x2E9A, 0x2EF4...0x2EFE, 0x9FFD...0x9FFE, 0xFA6E...0xFA6F, 0xFADA...0xFAFE, 0x2A6DE,
      0x2B735...0x2B73E, 0x2B81E...0x2B81F, 0x2CEA2...0x2CEAE, 0x2FA1E:
      true
    default: false
    }
  }
}
