/// A sample for fitting a device's coefficients, with its family of operators.
package struct FamilySample: Hashable, Sendable {
  package var family: String
  package var cost: CostSample

  package init(family: String, cost: CostSample) {
    self.family = family
    self.cost = cost
  }
}

extension DeviceCoefficients {
  /// The fewest samples of a family for a roofline of its own; below, the general roofline is used.
  private static let fewest = 4

  /// Fits a roofline to all samples, and one to each family with enough samples.
  ///
  /// - Returns: `nil` with fewer than four usable samples, which have positive, finite seconds.
  package init?(fitting samples: [FamilySample]) {
    let usable = samples.filter(\.cost.isUsable)
    guard usable.count >= Self.fewest else { return nil }
    self.init(fittingUsable: usable)
  }

  private init?(fittingUsable samples: [FamilySample]) {
    guard let general = Roofline.fit(samples.map(\.cost)) else { return nil }
    var operators: [String: Roofline] = [:]
    for (family, members) in Dictionary(grouping: samples, by: \.family) where members.count >= Self.fewest {
      operators[family] = Roofline.fit(members.map(\.cost))
    }
    self.init(general: general, operators: operators)
  }

  /// Returns the error of fitted coefficients on samples that were not fitted: the median of `|estimate − measured| /
  /// measured`. Each sample is estimated by a fit without it, or, with more than 40 samples, without its tenth of them.
  /// 1 when there are too few samples.
  package static func leaveOneOutError(_ samples: [FamilySample]) -> Double {
    let usable = samples.filter(\.cost.isUsable)
    let folds = usable.count > 40 ? 10 : usable.count
    var errors: [Double] = []
    for fold in 0..<folds {
      let kept = usable.indices.filter { $0 % folds != fold }.map { usable[$0] }
      guard let partial = DeviceCoefficients(fittingUsable: kept) else { continue }
      for index in stride(from: fold, to: usable.count, by: folds) {
        let (family, cost) = (usable[index].family, usable[index].cost)
        let estimate = partial.estimate(operator: family, operations: cost.operations, bytes: cost.bytes)
        errors.append(abs(estimate - cost.seconds) / cost.seconds)
      }
    }
    errors.sort()
    return errors.isEmpty ? 1 : errors[errors.count / 2]
  }
}
