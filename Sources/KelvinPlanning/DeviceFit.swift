/// What a device's coefficients were fitted to: a sample and the family of operators that it belongs to.
package struct FamilySample: Hashable, Sendable {
  package var family: String
  package var cost: CostSample

  package init(family: String, cost: CostSample) {
    self.family = family
    self.cost = cost
  }
}

extension DeviceCoefficients {
  /// Below this many samples a family is estimated by what all families have in common.
  private static let fewest = 4

  /// A roofline for all samples, and one for each family that has enough of its own.
  ///
  /// - Returns: `nil` with fewer than four usable samples: positive, finite seconds.
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

  /// How far coefficients fitted to samples are off where they were not: the median over the samples of
  /// `|estimate − measured| / measured`, each estimated by a fit, its family's own included, without it (without its
  /// tenth of the samples when there are more than 40). 1 where there are too few.
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
