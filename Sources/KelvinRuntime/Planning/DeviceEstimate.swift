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

  /// The best there is: nodes of the device itself, a shipped profile of its class, a guess.
  init(_ device: DeviceInfo, profile: MeasuredProfile?, threads: Int, shipped: ShippedProfiles) {
    let own = profile.flatMap { ProfileFit($0, device: device.id, threads: threads) }
    kind = device.planningKind
    let guess = kind.powerGuess
    let guessed = DevicePower(
      idleWatts: guess.idle, busyWatts: guess.busy, source: "a guess for the kind of device (\(kind.rawValue))")
    let measured = profile?.device(device.id)?.power
    families = own?.families
    let match = own.map { $0.fitted.samples < ProfileFit.enough } ?? true ? shipped.match(device) : nil
    if let match, let fit = shipped.fit(of: match, threads: threads) {
      coefficients = fit.fitted.model
      for (key, costs) in match.profile.nodes { known[key] = costs[match.device.id] }
      let elsewhere = shipped.errorElsewhere(of: match, threads: threads)
      let there = HumanReadable.percent(fit.fitted.leaveOneOutError, decimals: 0)
      let here =
        elsewhere.map { "by \(HumanReadable.percent($0, decimals: 0)) on other machines of its class" }
        ?? "how far here is unknown: no other machine of its class was measured; 'kelvin profile' measures this one"
      basis = EstimateBasis(
        device: device.id, kind: .shipped,
        text: "the shipped profile '\(match.name)' (\(match.closeness)), a roofline fitted to "
          + "\(fit.fitted.samples) measured layers, off by \(there) where it was measured (median, leave-one-out), \(here)",
        leaveOneOutError: fit.fitted.leaveOneOutError, samples: fit.fitted.samples, errorElsewhere: elsewhere)
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
}
