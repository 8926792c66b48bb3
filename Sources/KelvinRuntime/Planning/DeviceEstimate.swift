import KelvinBasics
import KelvinDevices
import KelvinMeasurements
import KelvinPlanning

/// How the costs of one device are estimated where they were not measured.
struct DeviceEstimate: Sendable {
  var basis: EstimateBasis
  /// Families of operators with a measured member; nil where any operator may be estimated.
  var families: Set<String>?
  private var coefficients: DeviceCoefficients
  /// Node key to seconds: what a shipped profile measured of the very same node.
  private var known: [String: NodeCost] = [:]
  var power: DevicePower
  private let kind: DeviceKind

  /// Fewer nodes than this describe a device worse than a shipped profile of its class.
  private static let enough = 12
  /// More do not make a better fit, only a slower one.
  private static let mostSamples = 500

  /// The best there is: nodes of the device itself, a shipped profile of its class, a guess.
  init(_ device: DeviceInfo, profile: MeasuredProfile?, threads: Int, shipped: ShippedProfiles) {
    let own = profile.flatMap { Self.fit($0, device: device.id, threads: threads) }
    kind = device.planningKind
    let guess = kind.powerGuess
    let guessed = DevicePower(
      idleWatts: guess.idle, busyWatts: guess.busy, source: "a guess for the kind of device (\(kind.rawValue))")
    let measured = profile?.device(device.id)?.power
    families = own?.families
    let match = own.map { $0.fitted.samples < Self.enough } ?? true ? shipped.match(device) : nil
    if let match, let fit = Self.fit(match.profile, device: match.device.id, threads: threads) {
      coefficients = fit.fitted.model
      for (key, costs) in match.profile.nodes { known[key] = costs[match.device.id] }
      basis = EstimateBasis(
        device: device.id, kind: .shipped,
        text: "the shipped profile '\(match.name)' (\(match.closeness)), \(Self.describe(fit.fitted))",
        leaveOneOutError: fit.fitted.leaveOneOutError, samples: fit.fitted.samples)
      power = measured ?? match.device.power ?? guessed
    } else if let own {
      coefficients = own.fitted.model
      basis = EstimateBasis(
        device: device.id, kind: .fitted, text: Self.describe(own.fitted),
        leaveOneOutError: own.fitted.leaveOneOutError, samples: own.fitted.samples)
      power = measured ?? guessed
    } else {
      coefficients = kind.guess
      power = measured ?? guessed
      basis = EstimateBasis(
        device: device.id, kind: .guess, text: "a guess for the kind of device (\(kind.rawValue))",
        leaveOneOutError: nil, samples: 0)
    }
  }

  func seconds(key: String, _ work: NodeWork) -> Double {
    known[key]?.seconds
      ?? coefficients.estimate(operator: work.op, operations: work.operations, bytes: work.bytes)
  }

  /// What compiling a node and running it for the first time take beyond a warm run.
  func startSeconds(key: String) -> Double { known[key]?.startSeconds ?? kind.startGuess }

  private static func describe(_ fitted: Fitted<DeviceCoefficients>) -> String {
    "a roofline fitted to \(fitted.samples) measured layers, off by "
      + "\(HumanReadable.percent(fitted.leaveOneOutError, decimals: 0)) (median, leave-one-out)"
  }

  /// Nodes measured with the same number of threads count; where there are too few, all do.
  private static func fit(
    _ profile: MeasuredProfile, device: String, threads: Int
  ) -> (fitted: Fitted<DeviceCoefficients>, families: Set<String>)? {
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
    let families = Set(samples.map(\.family))
    let used = same.count >= enough ? same : samples
    // Keys begin with the operator, so that every n-th of them has all families in proportion.
    let step = (used.count + mostSamples - 1) / mostSamples
    let thinned = stride(from: 0, to: used.count, by: max(1, step)).map { used[$0] }
    guard let fitted = DeviceCoefficients.fit(thinned) else { return nil }
    return (fitted, families)
  }
}
