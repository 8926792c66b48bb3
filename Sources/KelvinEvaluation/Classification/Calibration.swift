/// The calibration of confidences by the expected calibration error. This error is the mean distance between confidence
/// and share of right answers in bins of equal width, weighted by the number of answers (Guo et al., "On calibration of
/// modern neural networks", 2017).
public struct Calibration: Hashable, Sendable {
  /// The answers in a range of confidences.
  public struct Bin: Hashable, Sendable {
    /// The range of confidences. The upper bound belongs to the bin, the lower bound to the bin below.
    public var range: ClosedRange<Double>
    /// The proportion of right answers in the bin.
    public var right: Proportion
    /// The mean confidence of the answers; 0 for an empty bin.
    public var confidence: Double
  }

  /// The `binCount` bins, from 0 to 1.
  public let bins: [Bin]
  /// The expected calibration error, 0…1; nil without answers.
  public let expectedError: Double?

  /// The number of bins, as in the paper.
  public static let binCount = 15

  /// Computes the calibration.
  ///
  /// - Parameter answers: The confidence of each answer, and whether it was right. Confidences are clamped to 0…1; NaN
  ///   counts as 0.
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
