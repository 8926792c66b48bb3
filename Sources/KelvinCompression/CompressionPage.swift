import Kelvin
import KelvinBasics
import KelvinEvaluation
import KelvinReport

/// A page about copies of a model: their sizes and their quality as a chart and a table, and the form of each weight of
/// the chosen copy.
public struct CompressionPage: Sendable {
  /// The name of the model.
  public var title: String
  /// The weights of the model.
  public var weights: [ModelCompressor.Weight]
  /// The model with its own weights.
  public var original: CompressionSearch.Outcome
  /// The copies.
  public var copies: [CompressionSearch.Outcome]
  /// The index of the copy that is written.
  public var chosen: Int

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - title: The name of the model.
  ///   - weights: The weights of the model.
  ///   - original: The model with its own weights.
  ///   - copies: At least one copy.
  ///   - chosen: The index of the copy that is written.
  public init(
    title: String, weights: [ModelCompressor.Weight], original: CompressionSearch.Outcome,
    copies: [CompressionSearch.Outcome], chosen: Int
  ) {
    precondition(copies.indices.contains(chosen), "the chosen copy is one of the copies")
    (self.title, self.weights, self.original) = (title, weights, original)
    (self.copies, self.chosen) = (copies, chosen)
  }

  /// Returns the page, an HTML document that loads no other resources.
  public func html() -> String {
    let all = [original] + copies
    let front = Set(ParetoFront.members(of: all.map { (cost: Double($0.byteCount), quality: $0.quality.share) }))
    let candidates = all.enumerated().map { index, outcome in
      EvaluationPage.BenchmarkCandidate(
        name: index == 0 ? "original" : HumanReadable.bytes(outcome.byteCount), cells: cells(outcome),
        quality: outcome.quality.share, interval: outcome.quality.interval, cost: Double(outcome.byteCount),
        isOnFront: front.contains(index), isChosen: index == chosen + 1,
        sections: index == chosen + 1 ? [section(outcome)] : [], mistakes: [])
    }
    return EvaluationPage(
      title: "Copies of \(title)", summary: summary, verdict: verdict, columns: columns, isShare: true,
      isBetterWhenLarger: true, cost: .size, candidates: candidates, notes: notes, kelvinVersion: kelvinVersion
    ).render()
  }

  private var summary: String {
    "Each copy has the forms of weights with the least sum of measured changes within its size."
  }

  private var verdict: String {
    let copy = copies[chosen]
    let sizes = "\(HumanReadable.bytes(copy.byteCount)) of \(HumanReadable.bytes(original.byteCount))"
    guard let accuracy = copy.accuracy else {
      return "The copy has \(sizes). \(copy.quality.name): \(text(copy.quality.share))."
    }
    let bounds = accuracy.difference
    return "The copy has \(sizes). It is right for \(accuracy.copy) of \(accuracy.count) samples, the original for "
      + "\(accuracy.original): a difference of \(points(bounds.lowerBound)) to \(points(bounds.upperBound)) points."
  }

  private var notes: [String] {
    guard let accuracy = copies[chosen].accuracy, accuracy.hasTooFewSamples else { return [] }
    return ["\(accuracy.count) samples are too few for a difference of two points."]
  }

  private var columns: [String] {
    [original.quality.name, "Interval", "Size", "Time", "Cosine", "Change", "Same label"]
  }

  private func cells(_ outcome: CompressionSearch.Outcome) -> [String] {
    let quality = outcome.quality
    let agreement = outcome.agreement
    return [
      text(quality.share), quality.interval.map { "\(text($0.lowerBound)) to \(text($0.upperBound))" } ?? "",
      HumanReadable.bytes(outcome.byteCount), HumanReadable.seconds(outcome.time.inSeconds),
      HumanReadable.significant(outcome.cosine), HumanReadable.significant(outcome.change),
      agreement.of > 0 ? "\(agreement.count) of \(agreement.of)" : "",
    ]
  }

  private func section(_ outcome: CompressionSearch.Outcome) -> EvaluationPage.Section {
    .table(
      title: "Form of each weight", columns: ["Weight", "Shape", "Form", "Before"],
      rows: zip(weights, outcome.forms).map { weight, form in
        [
          weight.name, weight.shape.map(String.init).joined(separator: " x "), form.description,
          HumanReadable.bytes(weight.byteCount),
        ]
      })
  }

  private func text(_ share: Double) -> String { HumanReadable.percent(share, decimals: 1) }
  private func points(_ share: Double) -> String { HumanReadable.significant(100 * share) }
}

extension CompressionSearch.Outcome {
  /// The measure by which copies are compared: right answers, else the original's labels, else the cosine of outputs.
  fileprivate var quality: (name: String, share: Double, interval: ClosedRange<Double>?) {
    if let accuracy {
      let right = Proportion(accuracy.copy, of: accuracy.count)
      return ("Right answers", right.share ?? 0, right.interval)
    }
    guard agreement.of > 0 else { return ("Cosine of the outputs", cosine, nil) }
    let same = Proportion(agreement.count, of: agreement.of)
    return ("Answers of the original", same.share ?? 0, same.interval)
  }
}

extension CompressionSearch.Accuracy {
  /// Whether the interval is wider than four points, so that a loss of two may go unseen.
  public var hasTooFewSamples: Bool { difference.upperBound - difference.lowerBound > 0.04 }
}
