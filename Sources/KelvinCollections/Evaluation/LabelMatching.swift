import KelvinBasics
package import KelvinVision

/// A mapping between a classifier's labels and a data set's classes. Names match regardless of case and of spaces, `_`,
/// `-` and `.` between words, and in any Unicode form. A label with several names ("tench, Tinca tinca") matches by any
/// of them. A name with the same bytes takes precedence.
package struct LabelMatching {
  private var answers: [ExactString: String] = [:]
  private var truths: [ExactString: String] = [:]
  private let all: [String]
  private let labels: [String]

  /// Matches names.
  ///
  /// - Parameters:
  ///   - truths: The data set's classes.
  ///   - answers: The classifier's labels.
  package init(_ truths: [String], answers: [String]) {
    (all, labels) = (truths, answers)
    var known: [String: String] = [:]
    // A complete label takes precedence over one of several names in a label.
    for answer in answers {
      for name in answer.split(separator: ",").map({ Self.plain(String($0)) }) { known[name] = known[name] ?? answer }
    }
    for answer in answers { known[Self.plain(answer)] = answer }
    let complete = Set(answers.exact)
    for truth in truths.exact {
      guard !complete.contains(truth) else {
        (self.answers[truth], self.truths[truth]) = (truth.string, truth.string)
        continue
      }
      guard let answer = known[truth.string] ?? known[Self.plain(truth.string)] else { continue }
      self.answers[truth] = answer
      self.truths[ExactString(answer)] = self.truths[ExactString(answer)] ?? truth.string
    }
  }

  /// Returns the label that matches a class.
  package func answer(for truth: String) -> String? { answers[ExactString(truth)] }

  /// Returns the class that a label matches.
  func truth(of answer: String) -> String? { truths[ExactString(answer)] }

  /// Returns the data set's classes that no label matches.
  ///
  /// - Throws: `VisionError.invalidRequest` where no class matches at all.
  package func missing(of contender: String) throws(VisionError) -> [String] {
    let missing = all.filter { answers[ExactString($0)] == nil }
    guard missing.count < all.count else {
      let first = all.first ?? ""
      let absent =
        all.count == 1
        ? "the data set's only class, '\(first)', is not"
        : "none of the data set's \(all.count) classes ('\(first)', …) is"
      throw .invalidRequest(
        "\(absent) one of \(contender)'s (\(Self.list(labels))); --labels names its classes")
    }
    return missing
  }

  /// Returns a remark about missing classes. The caller appends the consequence for their examples.
  static func remark(on missing: [String], of contender: String) -> String {
    "\(contender) has no answer for \(missing.count) of the data set's classes (\(list(missing))): "
  }

  /// Lists the first three names.
  private static func list(_ names: [String]) -> String {
    names.prefix(3).map { "'\($0)'" }.joined(separator: ", ") + (names.count > 3 ? ", …" : "")
  }

  private static func plain(_ name: String) -> String {
    name.lowercased().split { " _-.".contains($0) }.joined(separator: " ")
  }
}
