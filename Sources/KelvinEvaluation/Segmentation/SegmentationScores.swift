/// How well label maps fit those that are right, counted in pixels over all images.
public struct SegmentationScores: Hashable, Sendable {
  /// Pixels of each class, by those that they were taken for.
  public private(set) var confusion: [[Int]]

  /// - Parameter classCount: classes are numbers below it.
  public init(classCount: Int) {
    confusion = [[Int]](repeating: [Int](repeating: 0, count: classCount), count: classCount)
  }

  /// Adds an image.
  ///
  /// - Parameters:
  ///   - truth: the class of each pixel; those of classes that there are not (a border that nobody judges) do not count.
  ///   - answer: as many.
  public mutating func add(truth: [Int], answer: [Int]) {
    precondition(truth.count == answer.count)
    for (truth, answer) in zip(truth, answer) { add(truth: truth, answer: answer, count: 1) }
  }

  mutating func add(truth: Int, answer: Int, count: Int) {
    guard confusion.indices.contains(truth) else { return }
    // An answer of no class is wrong for its own.
    if confusion.indices.contains(answer) {
      confusion[truth][answer] += count
    } else {
      unanswered[truth, default: 0] += count
    }
  }

  private var unanswered: [Int: Int] = [:]

  /// Pixels that are of a class.
  public func pixelCount(of label: Int) -> Int { confusion[label].reduce(0, +) + (unanswered[label] ?? 0) }

  /// Pixels that class and answer share, of those that either has; nil where neither has any.
  public func intersectionOverUnion(of label: Int) -> Double? {
    let shared = confusion[label][label]
    let truth = pixelCount(of: label)
    let answer = confusion.reduce(0) { $0 + $1[label] }
    let union = truth + answer - shared
    return union > 0 ? Double(shared) / Double(union) : nil
  }

  /// The mean over the classes that any pixel has or was taken for; nil of none.
  public var meanIntersectionOverUnion: Double? {
    let shares = confusion.indices.compactMap(intersectionOverUnion)
    return shares.isEmpty ? nil : shares.reduce(0, +) / Double(shares.count)
  }

  /// Pixels that are right, of all that count.
  public var accuracy: Proportion {
    Proportion(
      confusion.indices.reduce(0) { $0 + confusion[$1][$1] },
      of: confusion.joined().reduce(0, +) + unanswered.values.reduce(0, +))
  }
}
