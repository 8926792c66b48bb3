import KelvinMeasurements
import KelvinPlanning

/// What a profile's measurements of one device say of nodes that were not measured.
struct ProfileFit: Sendable {
  let coefficients: DeviceCoefficients
  /// Those that were fitted to.
  private let samples: [FamilySample]
  /// Families of operators with a measured member.
  let families: Set<String>

  /// Fewer nodes than this describe a device worse than a shipped profile of its class.
  static let enough = 12
  /// More do not make a better fit, only a slower one.
  private static let mostSamples = 500

  /// Nodes measured with the same number of threads count; where there are too few, all do.
  ///
  /// - Returns: nil where too little was measured on the device.
  init?(_ profile: MeasuredProfile, device: String, threads: Int) {
    var samples: [FamilySample] = []
    var same: [FamilySample] = []
    for (key, costs) in profile.nodes.sorted(by: { $0.key < $1.key }) {
      guard let cost = costs[device], let work = profile.work[key] else { continue }
      let sample = FamilySample(
        family: work.op,
        cost: CostSample(operations: work.operations, bytes: work.bytes, seconds: cost.seconds))
      samples.append(sample)
      if key.hasSuffix(" \(threads)t") { same.append(sample) }
    }
    let used = same.count >= Self.enough ? same : samples
    // Keys begin with the operator, so that every n-th of them has all families in proportion.
    let step = (used.count + Self.mostSamples - 1) / Self.mostSamples
    let thinned = stride(from: 0, to: used.count, by: max(1, step)).map { used[$0] }
    guard let coefficients = DeviceCoefficients(fitting: thinned) else { return nil }
    self.coefficients = coefficients
    self.samples = thinned
    families = Set(samples.map(\.family))
  }

  var sampleCount: Int { samples.count }

  /// The median of `|estimate − measured| / measured` of nodes estimated without themselves. It takes ten times as long
  /// as fitting.
  var leaveOneOutError: Double { DeviceCoefficients.leaveOneOutError(samples) }
}
