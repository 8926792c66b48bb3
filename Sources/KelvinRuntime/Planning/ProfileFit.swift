import KelvinMeasurements
import KelvinPlanning

/// Cost estimates fitted to a profile's measurements of one device.
struct ProfileFit: Sendable {
  let coefficients: DeviceCoefficients
  /// The samples of the fit.
  private let samples: [FamilySample]
  /// Operator families with a measured member.
  let families: Set<String>

  /// The number of nodes below which a shipped profile of the class describes a device better.
  static let enough = 12
  /// The maximum number of samples; more only make the fit slower.
  private static let mostSamples = 500

  /// Fits nodes measured with the same number of threads, or all nodes if there are too few of these.
  ///
  /// - Returns: nil if there are not enough measurements of the device.
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
    // Keys begin with the operator, so every n-th key preserves the proportions of families.
    let step = (used.count + Self.mostSamples - 1) / Self.mostSamples
    let thinned = stride(from: 0, to: used.count, by: max(1, step)).map { used[$0] }
    guard let coefficients = DeviceCoefficients(fitting: thinned) else { return nil }
    self.coefficients = coefficients
    self.samples = thinned
    families = Set(samples.map(\.family))
  }

  var sampleCount: Int { samples.count }

  /// The median of `|estimate − measured| / measured` of nodes estimated without themselves. Computing it takes much
  /// longer than the fit.
  var leaveOneOutError: Double { DeviceCoefficients.leaveOneOutError(samples) }
}
