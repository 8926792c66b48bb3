import KelvinBasics
import KelvinCompression

/// The report of `kelvin compress`: the form and the error of each weight, the sizes, and the measured outcome.
struct CompressionReport: Encodable {
  struct Weight: Encodable {
    let name: String
    let shape: [Int]
    let form: String
    let bytesBefore: Int
    let bytes: Int
    /// The sum of squared errors by the sum of squares.
    let relativeError: Double
  }

  struct Measured: Encodable {
    /// For classifiers the mean Kullback-Leibler divergence in nats, else the mean relative squared error.
    let change: Double
    /// The mean cosine of the outputs and the original's.
    let cosine: Double
    /// The median time of a prediction.
    let seconds: Double
    let secondsBefore: Double
    let agreeing: Int
    let samples: Int
    /// The samples whose class is a label of the model.
    let labelled: Int?
    let right: Int?
    let rightBefore: Int?
    let differenceInterval: [Double]?
  }

  var format = "kelvin-compression"
  var version = 1
  let bytesBefore: Int
  let bytes: Int
  /// The least version of iOS that reads the copy; nil for ONNX models.
  let iOS: Int?
  let weights: [Weight]
  let measured: Measured?
  private let hasTooFewSamples: Bool

  private enum CodingKeys: CodingKey { case format, version, bytesBefore, bytes, iOS, weights, measured }

  init(
    _ compressor: ModelCompressor, _ chosen: [WeightForm], byteCount: Int, _ outcome: CompressionSearch.Outcome?,
    _ original: CompressionSearch.Outcome?
  ) {
    bytesBefore = compressor.byteCount
    bytes = byteCount
    iOS = compressor.system.map { max($0, chosen.map(\.system).max() ?? 16) }
    weights = compressor.weights.indices.map { index in
      let weight = compressor.weights[index]
      let coding = compressor.codings(of: index, in: [chosen[index]])[0]
      return Weight(
        name: weight.name, shape: weight.shape, form: (coding?.form ?? .original).description,
        bytesBefore: weight.byteCount, bytes: coding?.byteCount ?? weight.byteCount,
        relativeError: coding?.relativeError ?? 0)
    }
    hasTooFewSamples = outcome?.accuracy?.hasTooFewSamples ?? false
    measured = outcome.map { outcome in
      Measured(
        change: outcome.change, cosine: outcome.cosine, seconds: outcome.time.inSeconds,
        secondsBefore: original?.time.inSeconds ?? outcome.time.inSeconds, agreeing: outcome.agreement.count,
        samples: outcome.agreement.of,
        labelled: outcome.accuracy?.count, right: outcome.accuracy?.copy, rightBefore: outcome.accuracy?.original,
        differenceInterval: outcome.accuracy.map { [$0.difference.lowerBound, $0.difference.upperBound] })
    }
  }

  /// The report for a terminal.
  func text(width: Int) -> String {
    var table = TextTable([
      .init("WEIGHT", shrinksTo: 12, cut: .beginning), .init("SHAPE"), .init("FORM"), .init("BEFORE", .right),
      .init("AFTER", .right), .init("ERROR", .right),
    ])
    for weight in weights {
      table.add([
        weight.name, weight.shape.map(String.init).joined(separator: "x"), weight.form,
        HumanReadable.bytes(weight.bytesBefore), HumanReadable.bytes(weight.bytes),
        weight.relativeError > 0 ? "\(HumanReadable.significant(100 * weight.relativeError.squareRoot())) %" : "0 %",
      ])
    }
    let share = HumanReadable.significant(100 * Double(bytes) / Double(max(bytesBefore, 1)))
    var lines = [
      "", "size        \(HumanReadable.bytes(bytes)), \(share) % of \(HumanReadable.bytes(bytesBefore))",
    ]
    if let iOS { lines.append("needs       iOS \(iOS) or later") }
    if let measured {
      if let count = measured.labelled, let right = measured.right, let before = measured.rightBefore,
        let interval = measured.differenceInterval
      {
        let bounds = interval.map { HumanReadable.significant(100 * $0) }
        lines.append("right       \(right) of \(count), the original \(before)")
        lines.append("difference  \(bounds[0]) to \(bounds[1]) points (95 % interval)")
        if hasTooFewSamples {
          lines.append("            the samples are too few for a difference of two points")
        }
      }
      if measured.samples > 0 {
        lines.append("agreement   \(measured.agreeing) of \(measured.samples) labels are the original's")
        lines.append("change      \(HumanReadable.significant(measured.change)) nats, mean divergence of the outputs")
      } else {
        lines.append(
          "change      \(HumanReadable.significant(measured.change)), mean relative squared error of the outputs")
      }
      lines.append("cosine      \(HumanReadable.significant(measured.cosine)) of the outputs and the original's")
      lines.append(
        "time        \(HumanReadable.seconds(measured.seconds)) a prediction, the original "
          + HumanReadable.seconds(measured.secondsBefore))
    }
    return table.text(width: width) + "\n" + lines.joined(separator: "\n")
  }
}
