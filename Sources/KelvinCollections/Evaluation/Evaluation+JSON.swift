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
  public func json(costs: [CandidateCost]) throws -> Data {
    let verdict = verdict(costs: costs)
    let document: JSONObject = [
      "task": Self.task, "images": examples.count,
      // Deprecated: the former key of `images`.
      "pictures": examples.count,
      "faults": faults.map { ["image": $0.name, "error": $0.reason] as JSONObject },
      "results": contenders.indices.map {
        result(of: $0, costs[$0], isOnFront: verdict?.front.contains($0)).extending(details(of: $0))
      },
      "verdict": verdict.map(document),
    ]
    return try JSONText.encode(document, unspeakable: .text)
  }

  private func document(_ verdict: EvaluationVerdict) -> JSONObject {
    [
      "model": names[verdict.chosen], "best": names[verdict.best], "front": verdict.front.map { names[$0] },
      "sentence": verdict.sentence,
    ]
  }

  /// The keys of a contender that all jobs share.
  private func result(of place: Int, _ cost: CandidateCost, isOnFront: Bool?) -> JSONObject {
    let compared = place > 0 ? comparison(of: place, with: 0) : nil
    return [
      "model": names[place], "bytes": cost.bytes, "seconds": cost.time.inSeconds, "peakMemory": cost.peakMemory,
      "devices": cost.devices.mapValues(\.inSeconds), "isOnFront": isOnFront,
      "againstFirst": compared.map { compared -> JSONObject in
        [
          "difference": compared.difference, "interval": compared.interval?.ends,
          "probability": compared.probability, "onlyFirst": compared.onlyOther, "onlyThis": compared.onlyContender,
        ]
      },
    ]
  }
}
