import Kelvin

extension KelvinDialect {
  /// The number of labels up to which they are raw values. The compiler takes longer than linear for raw values of strings,
  /// and a quarter of a minute for a thousand.
  private static let mostRawValues = 100
  /// Members that the enumeration has besides its cases.
  private static let labelMembers: Set<String> = [
    "AllCases", "Int64", "RawValue", "String", "allCases", "hash", "hashValue", "labelNumber", "labelsByText",
    "labelTexts",
    "rawValue",
  ]

  /// Adds the enumeration of a classifier's labels. Of equal labels there is one case; different labels whose cases would
  /// have one name are numbered.
  func addLabels(to text: inout SourceText) {
    guard description.predictedFeatureName != nil || description.predictedProbabilitiesName != nil,
      let first = description.classLabels.first
    else { return }
    let cases = labelCases()
    text.add("\n/// The labels of the model.", indent: 2)
    let isText = if case .string = first { true } else { false }
    // A line feed separates the labels of a table.
    guard isText, cases.count > Self.mostRawValues, !cases.contains(where: { $0.text.unicodeScalars.contains("\n") })
    else {
      text.add("\(access)enum Label: \(isText ? "String" : "Int64"), CaseIterable, Sendable {", indent: 2)
      for each in cases { text.add("case \(each.name) = \(isText ? each.text.swiftLiteral : each.text)", indent: 4) }
      text.add("}", indent: 2)
      return
    }
    text.add("\(access)enum Label: RawRepresentable, CaseIterable, Sendable {", indent: 2)
    for each in cases { text.add("case \(each.name)", indent: 4) }
    text.add(
      """

      \(access)init?(rawValue: String) {
        guard let label = Self.labelsByText[rawValue] else { return nil }
        self = label
      }

      \(access)var rawValue: String { Self.labelTexts[labelNumber] }

      private var labelNumber: Int {
        switch self {
      """, indent: 4)
    for (number, each) in cases.enumerated() { text.add("case .\(each.name): \(number)", indent: 6) }
    text.add(
      """
        }
      }

      private static let labelsByText = Dictionary(zip(labelTexts, allCases)) { first, _ in first }

      // One literal, because the compiler takes longer for many.
      private static let labelTexts: [String] = \"""
      """, indent: 4)
    for each in cases { text.add(String(each.text.swiftLiteral.dropFirst().dropLast()), indent: 6) }
    text.add(
      #"  """.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }"#, indent: 4)
    text.add("}", indent: 2)
  }

  /// The names of the cases, and the labels: strings, or numbers in digits.
  private func labelCases() -> [(name: SwiftName, text: String)] {
    var labels: Set<String> = []
    var taken: Set<String> = []
    var numbers: [String: Int] = [:]
    return description.classLabels.filter { labels.insert($0.description).inserted }.map { label in
      var wish = label.description
      if case .int64(let number) = label, number < 0 { wish = "minus\(number.magnitude)" }
      let name = SwiftName(wish, reserved: Self.labelMembers)
      var unique = name
      while !taken.insert(unique.text).inserted {
        numbers[name.text, default: 1] += 1
        unique = SwiftName("\(name.text)_\(numbers[name.text, default: 1])")
      }
      return (unique, label.description)
    }
  }
}
