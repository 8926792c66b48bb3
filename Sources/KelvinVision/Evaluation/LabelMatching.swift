/// Which answer of a classifier means which class of a data set. Names are the same where they are so but for case, and for lines
/// and points between words; and an answer of several names ("tench, Tinca tinca") means what any of them does.
struct LabelMatching {
  private var answers: [String: String] = [:]
  private var truths: [String: String] = [:]

  /// - Parameters:
  ///   - truths: the data set's classes.
  ///   - answers: the classifier's labels.
  init(_ truths: [String], answers: [String]) {
    var known: [String: String] = [:]
    // A whole name goes before one of several.
    for answer in answers {
      for name in answer.split(separator: ",").map({ Self.plain(String($0)) }) { known[name] = known[name] ?? answer }
    }
    for answer in answers { known[Self.plain(answer)] = answer }
    for answer in answers { known[answer] = answer }
    for truth in truths {
      guard let answer = known[truth] ?? known[Self.plain(truth)] else { continue }
      self.answers[truth] = answer
      self.truths[answer] = self.truths[answer] ?? truth
    }
  }

  /// The label that means a class.
  func answer(for truth: String) -> String? { answers[truth] }

  /// The class that a label means.
  func truth(of answer: String) -> String? { truths[answer] }

  private static func plain(_ name: String) -> String {
    name.lowercased().split { " _-.".contains($0) }.joined(separator: " ")
  }
}
