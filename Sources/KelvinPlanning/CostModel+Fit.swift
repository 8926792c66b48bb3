/// One measured node: what it does and how long it took.
package struct CostSample: Hashable, Sendable {
  package var operations: Double
  package var bytes: Double
  package var seconds: Double

  package init(operations: Double, bytes: Double, seconds: Double) {
    self.operations = operations
    self.bytes = bytes
    self.seconds = seconds
  }

  var isUsable: Bool {
    seconds > 0 && seconds.isFinite && operations >= 0 && operations.isFinite && bytes >= 0 && bytes.isFinite
  }
}

/// A model and how far it is off where it was not fitted.
package struct Fitted<Model: Hashable & Sendable>: Hashable, Sendable {
  package var model: Model
  /// Median over the samples of `|estimate − measured| / measured`, each estimated by a fit without it (without its
  /// tenth of the samples when there are more than 40).
  package var leaveOneOutError: Double
  package var samples: Int
}

extension Roofline {
  /// Coefficients from measured nodes: non-negative least squares on relative errors, outliers weighted down, in both
  /// combinations; the one with the smaller leave-one-out error is kept.
  /// - Returns: `nil` with fewer than four usable samples (positive and finite seconds).
  package static func fit(_ samples: [CostSample]) -> Fitted<Roofline>? {
    let usable = samples.filter(\.isUsable)
    guard usable.count >= 4 else { return nil }
    return [Combination.serial, .overlapped].compactMap { combination in
      LeaveOneOut.assess(
        usable, seconds: \.seconds, fit: { Self.fit($0, combination) },
        estimate: { $0.estimate(operations: $1.operations, bytes: $1.bytes) })
    }.min { $0.leaveOneOutError < $1.leaveOneOutError }
  }

  /// The combination that comes closer to the samples it is fitted to, by the median relative error.
  static func best(_ samples: [CostSample]) -> Roofline? {
    func error(_ model: Roofline) -> Double {
      let errors = samples.map { sample in
        abs(model.estimate(operations: sample.operations, bytes: sample.bytes) / sample.seconds - 1)
      }
      return errors.sorted()[errors.count / 2]
    }
    return [Combination.serial, .overlapped].compactMap { fit(samples, $0) }.min { error($0) < error($1) }
  }

  private static func fit(_ samples: [CostSample], _ combination: Combination) -> Roofline? {
    var model = solve(samples.map { SIMD3(1, $0.operations, $0.bytes) }, samples, .serial)
    guard combination == .overlapped else { return model }
    // Each sample is charged to the larger term of the last model, until the split settles.
    for _ in 0..<12 {
      guard let last = model else { return nil }
      let rows = samples.map { sample in
        let isArithmetic = sample.operations / last.operationsPerSecond >= sample.bytes / last.bytesPerSecond
        return SIMD3(1, isArithmetic ? sample.operations : 0, isArithmetic ? 0 : sample.bytes)
      }
      let next = solve(rows, samples, .overlapped)
      if next == model { break }
      model = next
    }
    return model
  }

  private static func solve(_ rows: [SIMD3<Double>], _ samples: [CostSample], _ combination: Combination) -> Roofline? {
    guard let x = RelativeLeastSquares.solve(rows, samples.map(\.seconds)) else { return nil }
    return Roofline(
      overheadSeconds: x[0], operationsPerSecond: x[1] > 0 ? 1 / x[1] : .greatestFiniteMagnitude,
      bytesPerSecond: x[2] > 0 ? 1 / x[2] : .greatestFiniteMagnitude, combination: combination)
  }
}

extension TransferModel {
  /// `latency` and `bytesPerSecond` from measured copies of several sizes.
  /// - Returns: `nil` with fewer than two usable samples.
  package static func fit(_ samples: [(bytes: Double, seconds: Double)]) -> Fitted<TransferModel>? {
    let usable = samples.filter { $0.seconds > 0 && $0.seconds.isFinite && $0.bytes >= 0 }
    guard usable.count >= 2 else { return nil }
    return LeaveOneOut.assess(
      usable, seconds: \.seconds,
      fit: { samples in
        RelativeLeastSquares.solve(samples.map { SIMD3(1, $0.bytes, 0) }, samples.map(\.seconds)).map {
          TransferModel(latency: $0[0], bytesPerSecond: $0[1] > 0 ? 1 / $0[1] : nil)
        }
      },
      estimate: { $0.estimate(bytes: $1.bytes) })
  }
}

enum LeaveOneOut {
  static func assess<Sample, Model>(
    _ samples: [Sample], seconds: (Sample) -> Double, fit: ([Sample]) -> Model?, estimate: (Model, Sample) -> Double
  ) -> Fitted<Model>? {
    guard let model = fit(samples) else { return nil }
    let folds = samples.count > 40 ? 10 : samples.count
    var errors: [Double] = []
    for fold in 0..<folds {
      let kept = samples.indices.filter { $0 % folds != fold }.map { samples[$0] }
      guard let partial = fit(kept) else { continue }
      for i in stride(from: fold, to: samples.count, by: folds) {
        errors.append(abs(estimate(partial, samples[i]) - seconds(samples[i])) / seconds(samples[i]))
      }
    }
    errors.sort()
    return Fitted(model: model, leaveOneOutError: errors.isEmpty ? 1 : errors[errors.count / 2], samples: samples.count)
  }
}
