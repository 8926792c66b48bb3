/// How good a classifier's answers are.
public struct ClassificationScores: Hashable, Sendable {
  /// One class against all others, by the surest answers.
  public struct OfClass: Hashable, Sendable {
    /// The class's number.
    public var label: Int
    /// Of the images said to be of the class, those that are.
    public var precision: Proportion
    /// Of the images of the class, those said to be.
    public var recall: Proportion
  }

  /// One class taken for another.
  public struct Confusion: Hashable, Sendable {
    /// The class that the images are of.
    public var truth: Int
    /// The class that they were said to be of.
    public var answer: Int
    /// How many they are.
    public var count: Int
  }

  /// Images whose surest answer is right.
  public let top1: Proportion
  /// Images with the right answer among the five surest.
  public let top5: Proportion
  /// Of each class that an image has, by its number.
  public let classes: [OfClass]
  /// The most frequent first, then by their numbers.
  public let confusions: [Confusion]
  /// Of the surest answers.
  public let calibration: Calibration

  /// - Parameter images: in any order; those without an answer count as wrong.
  public init(_ images: [ClassifiedImage]) {
    top1 = Proportion(images.count { $0.isRight(among: 1) }, of: images.count)
    top5 = Proportion(images.count { $0.isRight(among: 5) }, of: images.count)
    var (counts, said, right): ([Int: Int], [Int: Int], [Int: Int]) = ([:], [:], [:])
    var confused: [[Int]: Int] = [:]
    for image in images {
      counts[image.truth, default: 0] += 1
      guard let answer = image.answers.first?.label else { continue }
      said[answer, default: 0] += 1
      if answer == image.truth {
        right[answer, default: 0] += 1
      } else {
        confused[[image.truth, answer], default: 0] += 1
      }
    }
    classes = counts.sorted { $0.key < $1.key }.map { label, count in
      let hits = right[label] ?? 0
      return OfClass(
        label: label, precision: Proportion(hits, of: said[label] ?? 0), recall: Proportion(hits, of: count))
    }
    confusions = confused.map { Confusion(truth: $0.key[0], answer: $0.key[1], count: $0.value) }
      .sorted { ($1.count, $0.truth, $0.answer) < ($0.count, $1.truth, $1.answer) }
    calibration = Calibration(
      images.compactMap { image in
        image.answers.first.map { (Double($0.confidence), $0.label == image.truth) }
      })
  }

  /// The mean of the classes' recall, in which each counts as much; nil of no images.
  public var balancedAccuracy: Double? {
    classes.isEmpty ? nil : classes.compactMap(\.recall.share).reduce(0, +) / Double(classes.count)
  }
}
