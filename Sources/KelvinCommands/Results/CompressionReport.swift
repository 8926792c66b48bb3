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

  /// The measured original and copy.
  struct Outcomes {
    let original: CompressionSearch.Outcome
    let copy: CompressionSearch.Outcome
    /// Whether the copy is clearly slower.
    let isSlower: Bool
  }

  /// The figure of a segmenter or a detector.
  struct Figure: Encodable {
    let name: String
    /// Whether the original's answers stand for the right ones.
    let isAgreement: Bool
    let value: Double
    let valueBefore: Double
    let differenceInterval: [Double]?
    let images: Int
  }

  struct Measured: Encodable {
    /// For classifiers the mean Kullback-Leibler divergence in nats, else the mean relative squared error.
    let change: Double
    /// The mean cosine of the outputs and the original's.
    let cosine: Double
    /// The median time of a prediction.
    let seconds: Double
    let secondsBefore: Double
    /// Whether the copy is clearly slower than the original.
    let isSlower: Bool
    let agreeing: Int
    let samples: Int
    /// The samples whose class is a label of the model.
    let labelled: Int?
    let right: Int?
    let rightBefore: Int?
    let differenceInterval: [Double]?
    let figure: Figure?
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
    _ compressor: ModelCompressor, _ chosen: [WeightForm], byteCount: Int, _ outcomes: Outcomes?,
    _ measure: CompressionMeasure?
  ) {
    let outcome = outcomes?.copy
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
    hasTooFewSamples = outcome?.accuracy?.hasTooFewSamples ?? outcome?.measure?.hasTooFewSamples ?? false
    measured = outcomes.map { outcomes in
      let outcome = outcomes.copy
      return Measured(
        change: outcome.change, cosine: outcome.cosine, seconds: outcome.time.inSeconds,
        secondsBefore: outcomes.original.time.inSeconds, isSlower: outcomes.isSlower,
        agreeing: outcome.agreement.count, samples: outcome.agreement.of,
        labelled: outcome.accuracy?.count, right: outcome.accuracy?.copy, rightBefore: outcome.accuracy?.original,
        differenceInterval: outcome.accuracy.map { [$0.difference.lowerBound, $0.difference.upperBound] },
        figure: outcome.measure.map { found in
          Figure(
            name: measure?.name ?? "", isAgreement: measure?.isAgreement ?? false, value: found.copy,
            valueBefore: found.original, differenceInterval: found.difference.map { [$0.lowerBound, $0.upperBound] },
            images: found.count)
        })
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
    if let measured { lines += self.lines(measured) }
    return table.text(width: width) + "\n" + lines.joined(separator: "\n")
  }

  private func lines(_ measured: Measured) -> [String] {
    var lines: [String] = []
    if let count = measured.labelled, let right = measured.right, let before = measured.rightBefore {
      lines.append("right       \(right) of \(count), the original \(before)")
      lines += differenceLines(measured.differenceInterval)
    }
    if let figure = measured.figure {
      let (value, before) = (HumanReadable.percent(figure.value, decimals: 1), figure.valueBefore)
      lines.append(
        "measure     \(figure.name) \(value)"
          + (figure.isAgreement
            ? " with the original's answers" : ", the original \(HumanReadable.percent(before, decimals: 1))")
          + ", \(figure.images) image\(figure.images == 1 ? "" : "s")")
      lines += differenceLines(figure.differenceInterval)
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
    if bytes < bytesBefore, measured.isSlower {
      lines.append("            the copy is smaller, but slower on this machine")
    }
    return lines
  }

  private func differenceLines(_ interval: [Double]?) -> [String] {
    let bounds = interval.map { $0.map { HumanReadable.significant(100 * $0) } }
    let line = bounds.map { "difference  \($0[0]) to \($0[1]) points (95 % interval)" }
    let few = hasTooFewSamples ? "            the samples are too few for a difference of two points" : nil
    return [line, few].compactMap { $0 }
  }
}
