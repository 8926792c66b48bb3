import KelvinBasics
import KelvinDevices
import KelvinMeasurements
import KelvinPlanning

/// Estimates of one device's costs for nodes that were not measured.
struct DeviceEstimate: Sendable {
  private enum Source {
    /// Fitted to measured nodes of the device itself, in the profile that planning reads.
    case own(ProfileFit)
    case shipped(ShippedProfiles.Match, ProfileFit, among: ShippedProfiles)
    case guess
  }

  /// Operator families with a measured member; nil if any operator may be estimated.
  let families: Set<String>?
  let power: DevicePower
  private let source: Source
  private let coefficients: DeviceCoefficients
  /// The costs that a shipped profile has of identical nodes, by node key.
  private var known: [String: NodeCost] = [:]
  private let device: String
  private let kind: DeviceKind
  private let threads: Int

  /// Chooses the best available source: enough measured nodes of the device itself, then a shipped profile of its
  /// class, then a few measured nodes, then a guess.
  init(_ device: DeviceInfo, profile: MeasuredProfile?, threads: Int, shipped: ShippedProfiles) {
    let own = profile.flatMap { ProfileFit($0, device: device.id, threads: threads) }
    self.device = device.id
    self.threads = threads
    kind = device.planningKind
    families = own?.families
    var power = profile?.device(device.id)?.power
    let match = own.map { $0.sampleCount < ProfileFit.enough } ?? true ? shipped.match(device) : nil
    if let match, let fit = shipped.fit(of: match, threads: threads) {
      (source, coefficients) = (.shipped(match, fit, among: shipped), fit.coefficients)
      for (key, costs) in match.profile.nodes { known[key] = costs[match.device.id] }
      power = power ?? match.device.power
    } else if let own {
      (source, coefficients) = (.own(own), own.coefficients)
    } else {
      (source, coefficients) = (.guess, kind.guess)
    }
    let guess = kind.powerGuess
    self.power =
      power
      ?? DevicePower(
        idleWatts: guess.idle, busyWatts: guess.busy, source: "a guess for the kind of device (\(kind.rawValue))")
  }

  /// The source of the estimates and their error.
  var basis: EstimateBasis {
    switch source {
    case .own(let fit):
      let error = fit.leaveOneOutError
      return EstimateBasis(
        device: device, kind: .fitted,
        text: "a roofline fitted to \(fit.sampleCount) measured layers, off by "
          + "\(HumanReadable.percent(error, decimals: 0)) (median, leave-one-out)",
        leaveOneOutError: error, samples: fit.sampleCount)
    case .shipped(let match, let fit, let shipped):
      let error = fit.leaveOneOutError
      let elsewhere = shipped.errorElsewhere(of: match, threads: threads)
      let here =
        elsewhere.map { "by \(HumanReadable.percent($0, decimals: 0)) on other machines of its class" }
        ?? "the error here is unknown: no other machine of its class was measured; 'kelvin profile' measures this one"
      return EstimateBasis(
        device: device, kind: .shipped,
        text: "the shipped profile '\(match.name)' (\(match.closeness)), a roofline fitted to \(fit.sampleCount)"
          + " measured layers, off by \(HumanReadable.percent(error, decimals: 0)) where it was measured (median,"
          + " leave-one-out), \(here)",
        leaveOneOutError: error, samples: fit.sampleCount, errorElsewhere: elsewhere)
    case .guess:
      return EstimateBasis(
        device: device, kind: .guess, text: "a guess for the kind of device (\(kind.rawValue))", leaveOneOutError: nil,
        samples: 0)
    }
  }

  /// - Parameter own: the work that the device counts. If it differs from the node's, the general roofline applies,
  ///   because a family's roofline is fitted to the work of nodes. Of a device that was measured itself, the family's
  ///   roofline is a lower bound.
  func seconds(key: String, _ work: NodeWork, onDevice own: NodeWork?) -> Double {
    if let seconds = known[key]?.seconds { return seconds }
    let usual = coefficients.estimate(operator: work.op, operations: work.operations, bytes: work.bytes)
    guard let own, own != work else { return usual }
    let general = coefficients.general.estimate(operations: own.operations, bytes: own.bytes)
    guard case .own = source, coefficients.operators[work.op] != nil else { return general }
    return max(usual, general)
  }

  /// Returns the time that compiling a node and its first run take beyond a warm run.
  func startSeconds(key: String) -> Double { known[key]?.startSeconds ?? kind.startGuess }
}
