import KelvinBasics

extension ScalarSet {
  /// The general categories by their short names in Unicode, and their groups by the first letters.
  static let categories: [ExactString: Set<Unicode.GeneralCategory>] = {
    var categories = named.mapValues { Set([$0]) }
    for (name, category) in named {
      categories[ExactString(String(name.string.prefix(1))), default: []].insert(category)
    }
    return categories
  }()

  static let allCategories = Set(named.values)

  private static let named: [ExactString: Unicode.GeneralCategory] = [
    "Lu": .uppercaseLetter, "Ll": .lowercaseLetter, "Lt": .titlecaseLetter, "Lm": .modifierLetter, "Lo": .otherLetter,
    "Mn": .nonspacingMark, "Mc": .spacingMark, "Me": .enclosingMark, "Nd": .decimalNumber, "Nl": .letterNumber,
    "No": .otherNumber, "Pc": .connectorPunctuation, "Pd": .dashPunctuation, "Ps": .openPunctuation,
    "Pe": .closePunctuation, "Pi": .initialPunctuation, "Pf": .finalPunctuation, "Po": .otherPunctuation,
    "Sm": .mathSymbol, "Sc": .currencySymbol, "Sk": .modifierSymbol, "So": .otherSymbol, "Zs": .spaceSeparator,
    "Zl": .lineSeparator, "Zp": .paragraphSeparator, "Cc": .control, "Cf": .format, "Cs": .surrogate,
    "Co": .privateUse, "Cn": .unassigned,
  ]
}
