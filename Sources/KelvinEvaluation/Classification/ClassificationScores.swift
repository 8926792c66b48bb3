/// The scores of a classifier's answers.
public struct ClassificationScores: Hashable, Sendable {
  /// The scores of one class against all others, by the most confident answers.
  public struct OfClass: Hashable, Sendable {
    /// The index of the class.
    public var label: Int
    /// The proportion of images assigned to the class that belong to it.
    public var precision: Proportion
    /// The proportion of images of the class that were assigned to it.
    public var recall: Proportion
  }

  /// A confusion of one class with another.
  public struct Confusion: Hashable, Sendable {
    /// The class of the images.
    public var truth: Int
    /// The class to which they were assigned.
    public var answer: Int
    /// The number of images.
    public var count: Int
  }

  /// The proportion of images whose most confident answer is right.
  public let top1: Proportion
  /// The proportion of images with the right answer among the five most confident.
  public let top5: Proportion
  /// The scores of each class that an image has, sorted by class index.
  public let classes: [OfClass]
  /// The confusions, the most frequent first, then by class index.
  public let confusions: [Confusion]
  /// The calibration of the most confident answers.
  public let calibration: Calibration

  /// Computes the scores.
  ///
  /// - Parameter images: The images in any order. Images without an answer count as wrong.
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

  /// The mean recall of the classes, each with the same weight; nil without images.
  public var balancedAccuracy: Double? {
    classes.isEmpty ? nil : classes.compactMap(\.recall.share).reduce(0, +) / Double(classes.count)
  }
}
