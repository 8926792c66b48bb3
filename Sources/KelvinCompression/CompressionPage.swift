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
  /// The measure of the answers besides right labels; nil for classifiers and models without one.
  public var measure: CompressionMeasure?
  /// The time and the memory of some copies on the machine's devices, the original first.
  public var costs: [CopyCost]

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - title: The name of the model.
  ///   - weights: The weights of the model.
  ///   - original: The model with its own weights.
  ///   - copies: At least one copy.
  ///   - chosen: The index of the copy that is written.
  ///   - measure: The measure of the answers besides right labels.
  ///   - costs: The time and the memory of some copies on the machine's devices, the original first.
  public init(
    title: String, weights: [ModelCompressor.Weight], original: CompressionSearch.Outcome,
    copies: [CompressionSearch.Outcome], chosen: Int, measure: CompressionMeasure? = nil, costs: [CopyCost] = []
  ) {
    precondition(copies.indices.contains(chosen), "the chosen copy is one of the copies")
    (self.title, self.weights, self.original) = (title, weights, original)
    (self.copies, self.chosen, self.measure, self.costs) = (copies, chosen, measure, costs)
  }

  /// Returns the page, an HTML document that loads no other resources.
  public func html() -> String {
    let all = [original] + copies
    let front = Set(
      ParetoFront.members(of: all.map { (cost: Double($0.byteCount), quality: $0.quality(measure).share) }))
    let candidates = all.enumerated().map { index, outcome in
      EvaluationPage.BenchmarkCandidate(
        name: index == 0 ? "original" : HumanReadable.bytes(outcome.byteCount), cells: cells(outcome),
        quality: outcome.quality(measure).share, interval: outcome.quality(measure).interval,
        cost: Double(outcome.byteCount),
        isOnFront: front.contains(index), isChosen: index == chosen + 1,
        sections: index == chosen + 1 ? [section(outcome)] + costSections : [], mistakes: [])
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
      let quality = copy.quality(measure)
      let before = copy.measure.map { ", the original's \(text($0.original))" } ?? ""
      return "The copy has \(sizes). \(quality.name): \(text(quality.share))\(before)."
    }
    let bounds = accuracy.difference
    return "The copy has \(sizes). It is right for \(accuracy.copy) of \(accuracy.count) samples, the original for "
      + "\(accuracy.original): a difference of \(points(bounds.lowerBound)) to \(points(bounds.upperBound)) points."
  }

  private var notes: [String] {
    let copy = copies[chosen]
    var notes: [String] = []
    if let accuracy = copy.accuracy, accuracy.hasTooFewSamples {
      notes.append("\(accuracy.count) samples are too few for a difference of two points.")
    } else if let measure = copy.measure, measure.hasTooFewSamples {
      notes.append("\(measure.count) samples are too few for a difference of two points.")
    }
    return notes + CopyCost.slower(costs)
  }

  private var costSections: [EvaluationPage.Section] {
    guard !costs.isEmpty else { return [] }
    return [
      .table(
        title: "Time and memory on this machine", columns: ["Copy", "Size", "Device", "Time", "Memory"],
        rows: costs.flatMap { cost in
          cost.devices.map { device in
            [
              cost.name, HumanReadable.bytes(cost.byteCount), device.device, HumanReadable.seconds(device.seconds),
              device.peakMemory.map(HumanReadable.bytes) ?? "—",
            ]
          }
        })
    ]
  }

  private var columns: [String] {
    [original.quality(measure).name, "Interval", "Size", "Time", "Cosine", "Change", "Same label"]
  }

  private func cells(_ outcome: CompressionSearch.Outcome) -> [String] {
    let quality = outcome.quality(measure)
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
  /// The figure by which copies are compared: right answers, else the search's measure, else the original's labels, else
  /// the cosine of outputs.
  fileprivate func quality(
    _ asked: CompressionMeasure?
  ) -> (name: String, share: Double, interval: ClosedRange<Double>?) {
    if let asked, let measure {
      let bounds = measure.difference.map { bounds in
        max(0, measure.original + bounds.lowerBound)...min(1, max(0, measure.original + bounds.upperBound))
      }
      return (asked.isAgreement ? "\(asked.name) with the original" : asked.name, measure.copy, bounds)
    }
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
