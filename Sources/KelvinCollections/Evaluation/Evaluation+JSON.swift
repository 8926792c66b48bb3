public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

extension Evaluation {
  /// Encodes the results as JSON: `{"task", "images", "faults", "results", "verdict"}`. Shares are 0…1, times are in
  /// seconds and sizes in bytes. Numbers that JSON cannot represent are strings.
  ///
  /// - Parameter costs: The costs of the contenders, in their order.
  /// - Throws: `EncodingError` for a value that cannot be encoded.
  public func json(costs: [ContenderCost]) throws -> Data {
    let verdict = verdict(costs: costs)
    let results = contenders.indices.map { place in
      ContenderDocument(
        model: names[place], cost: costs[place], comparison: place > 0 ? comparison(of: place, with: 0) : nil,
        isOnFront: verdict?.front.contains(place), details: details(of: place))
    }
    let document = EvaluationDocument(
      task: Self.task, images: examples.count, pictures: examples.count,
      faults: faults.map { EvaluationDocument.Fault(image: $0.name, error: $0.reason) }, results: results,
      verdict: verdict.map {
        EvaluationDocument.Verdict(
          model: names[$0.chosen], best: names[$0.best], front: $0.front.map { names[$0] }, sentence: $0.sentence)
      })
    return try JSONText.encode(document, unspeakable: .text)
  }
}

extension ClosedRange {
  /// The bounds as JSON documents write them: the lower, then the upper.
  var ends: [Bound] { [lowerBound, upperBound] }
}

private struct EvaluationDocument: Encodable {
  struct Fault: Encodable {
    var image: String
    var error: String
  }

  struct Verdict: Encodable {
    var model: String
    var best: String
    var front: [String]
    var sentence: String
  }

  var task: String
  var images: Int
  /// Deprecated: the former key of `images`.
  var pictures: Int
  var faults: [Fault]
  var results: [ContenderDocument]
  var verdict: Verdict?
}

/// One JSON object with the keys that all jobs share and the keys of one job.
private struct ContenderDocument: Encodable {
  private struct Shared: Encodable {
    var model: String
    var bytes: Int
    var seconds: Double
    var peakMemory: Int?
    var devices: [String: Double]
    var againstFirst: Comparison?
    var isOnFront: Bool?
  }

  private struct Comparison: Encodable {
    var difference: Double?
    var interval: [Double]?
    var probability: Double?
    var onlyFirst: Int?
    var onlyThis: Int?
  }

  private let shared: Shared
  private let details: any Encodable

  init(
    model: String, cost: ContenderCost, comparison: EvaluationComparison?, isOnFront: Bool?, details: any Encodable
  ) {
    shared = Shared(
      model: model, bytes: cost.bytes, seconds: cost.seconds, peakMemory: cost.peakMemory, devices: cost.devices,
      againstFirst: comparison.map {
        Comparison(
          difference: $0.difference, interval: $0.interval?.ends,
          probability: $0.probability, onlyFirst: $0.onlyOther, onlyThis: $0.onlyContender)
      }, isOnFront: isOnFront)
    self.details = details
  }

  func encode(to encoder: any Encoder) throws {
    try shared.encode(to: encoder)
    try details.encode(to: encoder)
  }
}
