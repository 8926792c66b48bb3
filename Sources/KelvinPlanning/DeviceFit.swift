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
  /// The error is that of the whole: every sample is estimated by coefficients, the family's own included, that were
  /// fitted without it.
  /// - Returns: `nil` with fewer than four usable samples.
  package static func fit(_ samples: [FamilySample]) -> Fitted<DeviceCoefficients>? {
    let usable = samples.filter { $0.cost.isUsable }
    guard usable.count >= fewest else { return nil }
    return LeaveOneOut.assess(
      usable, seconds: \.cost.seconds, fit: coefficients,
      estimate: { $0.estimate(operator: $1.family, operations: $1.cost.operations, bytes: $1.cost.bytes) })
  }

  private static func coefficients(_ samples: [FamilySample]) -> DeviceCoefficients? {
    guard let general = Roofline.best(samples.map(\.cost)) else { return nil }
    var operators: [String: Roofline] = [:]
    for (family, members) in Dictionary(grouping: samples, by: \.family) where members.count >= fewest {
      operators[family] = Roofline.best(members.map(\.cost))
    }
    return DeviceCoefficients(general: general, operators: operators)
  }
}
