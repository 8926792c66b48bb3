/// The scores of label maps, counted in pixels over all images.
public struct SegmentationScores: Hashable, Sendable {
  /// The confusion matrix: the number of pixels by true class, then by answered class.
  public private(set) var confusion: [[Int]]

  /// Creates scores without pixels.
  ///
  /// - Parameter classCount: The number of classes; valid classes are below it.
  public init(classCount: Int) {
    confusion = [[Int]](repeating: [Int](repeating: 0, count: classCount), count: classCount)
  }

  /// Adds an image.
  ///
  /// - Parameters:
  ///   - truth: The class of each pixel. Pixels whose class is not below `classCount`, such as ignored borders, do not
  ///     count.
  ///   - answer: The answered class of each pixel.
  public mutating func add(truth: [Int], answer: [Int]) {
    precondition(truth.count == answer.count)
    for (truth, answer) in zip(truth, answer) { add(truth: truth, answer: answer, count: 1) }
  }

  mutating func add(truth: Int, answer: Int, count: Int) {
    guard confusion.indices.contains(truth) else { return }
    // An answer that is not a valid class is wrong for the pixel's true class.
    if confusion.indices.contains(answer) {
      confusion[truth][answer] += count
    } else {
      unanswered[truth, default: 0] += count
    }
  }

  private var unanswered: [Int: Int] = [:]

  /// Returns the number of pixels of a class.
  public func pixelCount(of label: Int) -> Int { confusion[label].reduce(0, +) + (unanswered[label] ?? 0) }

  /// Returns the intersection over union of a class; nil where no pixel has the class or is assigned to it.
  public func intersectionOverUnion(of label: Int) -> Double? {
    let shared = confusion[label][label]
    let truth = pixelCount(of: label)
    let answer = confusion.reduce(0) { $0 + $1[label] }
    let union = truth + answer - shared
    return union > 0 ? Double(shared) / Double(union) : nil
  }

  /// The mean intersection over union of the classes that any pixel has or is assigned to; nil without such classes.
  public var meanIntersectionOverUnion: Double? {
    let shares = confusion.indices.compactMap(intersectionOverUnion)
    return shares.isEmpty ? nil : shares.reduce(0, +) / Double(shares.count)
  }

  /// The proportion of right pixels among all that count.
  public var accuracy: Proportion {
    Proportion(
      confusion.indices.reduce(0) { $0 + confusion[$1][$1] },
      of: confusion.joined().reduce(0, +) + unanswered.values.reduce(0, +))
  }
}
