/// Whether answers are as often right as they are believed: the expected calibration error, the mean distance between
/// confidence and share of right answers in bins of equal width, each bin by its number of answers (Guo et al., "On calibration
/// of modern neural networks", 2017).
public struct Calibration: Hashable, Sendable {
  /// Answers of about the same confidence.
  public struct Bin: Hashable, Sendable {
    /// Of confidences, in order; the upper end belongs to it.
    public var range: ClosedRange<Double>
    /// Of the bin's answers, those that are right.
    public var right: Proportion
    /// The mean of the answers' confidences; 0 of none.
    public var confidence: Double
  }

  /// `binCount` of them, from 0 to 1.
  public let bins: [Bin]
  /// 0…1; nil of no answers.
  public let expectedError: Double?

  /// As many as the paper has.
  public static let binCount = 15

  /// - Parameter answers: the confidence of each, and whether it was right. Confidences outside 0…1 count as its ends.
  public init(_ answers: [(confidence: Double, isRight: Bool)]) {
    let count = Self.binCount
    let none = [Int](repeating: 0, count: count)
    var (sums, hits, counts) = ([Double](repeating: 0, count: count), none, none)
    for answer in answers {
      let confidence = answer.confidence.isNaN ? 0 : min(max(answer.confidence, 0), 1)
      let bin = min(max(Int((confidence * Double(count)).rounded(.up)) - 1, 0), count - 1)
      sums[bin] += confidence
      hits[bin] += answer.isRight ? 1 : 0
      counts[bin] += 1
    }
    bins = (0..<count).map { bin in
      Bin(
        range: Double(bin) / Double(count)...Double(bin + 1) / Double(count),
        right: Proportion(hits[bin], of: counts[bin]), confidence: counts[bin] > 0 ? sums[bin] / Double(counts[bin]) : 0
      )
    }
    let total = bins.reduce(0) { $0 + abs($1.confidence - ($1.right.share ?? 0)) * Double($1.right.trials) }
    expectedError = answers.isEmpty ? nil : total / Double(answers.count)
  }
}
