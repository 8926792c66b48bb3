/// A measured node: its work and its time.
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

extension Roofline {
  /// Fits coefficients to measured nodes, for both combinations of arithmetic and traffic: non-negative least squares
  /// on relative errors with down-weighted outliers. Returns the combination with the smaller median relative error.
  ///
  /// - Parameter samples: usable samples only.
  package static func fit(_ samples: [CostSample]) -> Roofline? {
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
    // Each sample counts toward the larger term of the previous model, until the assignment is stable.
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
