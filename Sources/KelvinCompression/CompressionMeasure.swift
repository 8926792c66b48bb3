public import Kelvin

/// A measure of a model's answers besides right labels, such as the mean intersection over union of label maps.
public struct CompressionMeasure: Sendable {
  /// The measure of a copy, and of the model with its own weights.
  public struct Comparison: Hashable, Sendable {
    /// The copy's figure, 0…1, where 1 is best.
    public var copy: Double
    /// The original's figure for the same samples.
    public var original: Double
    /// The 95 % interval of the copy's figure less the original's; nil if the samples are too few.
    public var difference: ClosedRange<Double>?
    /// The number of samples.
    public var count: Int

    /// Creates a comparison.
    ///
    /// - Parameters:
    ///   - copy: The copy's figure.
    ///   - original: The original's figure.
    ///   - difference: The 95 % interval of the difference; nil if the samples are too few.
    ///   - count: The number of samples.
    public init(copy: Double, original: Double, difference: ClosedRange<Double>?, count: Int) {
      (self.copy, self.original, self.difference, self.count) = (copy, original, difference, count)
    }

    /// The original's figure less the copy's, in points of a hundred.
    public var loss: Double { 100 * (original - copy) }
    /// Whether the interval is wider than four points, so that a loss of two may go unseen.
    public var hasTooFewSamples: Bool { difference.map { $0.upperBound - $0.lowerBound > 0.04 } ?? true }
  }

  /// The name of the figure: `Mean IoU`.
  public let name: String
  /// Whether the figure compares with the original's answers, because the right ones are not known.
  public let isAgreement: Bool
  let compare: @Sendable (Model, Model) async throws(ModelError) -> Comparison

  /// Creates a measure.
  ///
  /// - Parameters:
  ///   - name: The name of the figure.
  ///   - isAgreement: Whether the figure compares with the original's answers.
  ///   - compare: Compares a copy, the second argument, with the original. Both are the same model for the original's
  ///     own figure.
  public init(
    name: String, isAgreement: Bool,
    compare: @escaping @Sendable (_ original: Model, _ copy: Model) async throws(ModelError) -> Comparison
  ) {
    (self.name, self.isAgreement, self.compare) = (name, isAgreement, compare)
  }
}
