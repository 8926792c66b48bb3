#if Collections
/// Which answer of a classifier means which class of a data set. Names are the same where they are so but for case, and for lines
/// and points between words; and an answer of several names ("tench, Tinca tinca") means what any of them does.
struct LabelMatching {
  private var answers: [String: String] = [:]
  private var truths: [String: String] = [:]
  private let all: [String]
  private let labels: [String]

  /// - Parameters:
  ///   - truths: the data set's classes.
  ///   - answers: the classifier's labels.
  init(_ truths: [String], answers: [String]) {
    (all, labels) = (truths, answers)
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

  /// The data set's classes that no label means.
  ///
  /// - Throws: `VisionError.invalidRequest` where none is meant at all.
  func missing(of contender: String) throws(VisionError) -> [String] {
    let missing = all.filter { answers[$0] == nil }
    guard missing.count < all.count else {
      let first = all.first ?? ""
      let absent =
        all.count == 1
        ? "the data set's only class, '\(first)', is not" : "none of the data set's \(all.count) classes ('\(first)', …) is"
      throw .invalidRequest(
        "\(absent) one of \(contender)'s (\(Self.list(labels))); --labels names its classes")
    }
    return missing
  }

  /// What is said of missing classes, up to what becomes of their examples.
  static func remark(on missing: [String], of contender: String) -> String {
    "\(contender) has no answer for \(missing.count) of the data set's classes (\(list(missing))): "
  }

  /// The first few names.
  private static func list(_ names: [String]) -> String {
    names.prefix(3).map { "'\($0)'" }.joined(separator: ", ") + (names.count > 3 ? ", …" : "")
  }

  private static func plain(_ name: String) -> String {
    name.lowercased().split { " _-.".contains($0) }.joined(separator: " ")
  }
}
#endif
