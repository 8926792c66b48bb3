import CKelvinSupport
package import KelvinDevices
package import KelvinMeasurements
import KelvinPlanning
import Synchronization

/// The embedded profiles of `Profiles/devices/`. Measured profiles serve as estimates for unmeasured devices of the
/// same class; samples serve what-if plans.
package struct ShippedProfiles: Sendable {
  package struct Match: Sendable {
    package var name: String
    package var profile: MeasuredProfile
    package var device: DeviceIdentity
    /// The similarity in words: `the same processor`.
    package var closeness: String
  }

  package static let standard = ShippedProfiles()

  private let documents: [String: [UInt8]]
  private let read = Cache()

  /// Profiles that were read and fitted, kept for the life of the process.
  private final class Cache: Sendable {
    let heads = Mutex<[String: MeasuredProfile.Head]>([:])
    let profiles = Mutex<[String: MeasuredProfile]>([:])
    /// The fits by profile, device and thread count.
    let fits = Mutex<[String: ProfileFit?]>([:])
  }

  /// - Parameter documents: JSON documents by name; the embedded ones unless given.
  package init(_ documents: [String: [UInt8]]? = nil) {
    self.documents = documents ?? Self.embedded
  }

  package static let none = ShippedProfiles([:])

  package var names: [String] { documents.keys.sorted() }

  /// Returns a profile by its name, e.g. `sample-discrete-gpu`; nil if there is none.
  ///
  /// - Throws: `MeasurementError` for a document that is not a profile.
  package func profile(_ name: String) throws(MeasurementError) -> MeasuredProfile? {
    if let known = read.profiles.withLock({ $0[name] }) { return known }
    guard let bytes = documents[name] else { return nil }
    let profile = try MeasuredProfile(json: bytes, document: name)
    read.profiles.withLock { $0[name] = profile }
    return profile
  }

  /// Returns the head of a document, without its costs; nil if it is not a profile.
  private func head(_ name: String) -> MeasuredProfile.Head? {
    if let known = read.heads.withLock({ $0[name] }) { return known }
    guard let head = documents[name].flatMap({ try? MeasuredProfile.Head(json: $0, document: name) }) else {
      return nil
    }
    read.heads.withLock { $0[name] = head }
    return head
  }

  /// Returns the measured profile whose device is closest to `device`: the same processor or name, then the same
  /// instruction set or driver. Nil if there is none of its class.
  package func match(_ device: DeviceInfo) -> Match? {
    var candidates: [(rank: Int, name: String, device: DeviceIdentity, closeness: String)] = []
    for name in names {
      guard let head = head(name), head.isMeasured,
        head.machine.architecture == MachineDescription.hostArchitecture
      else { continue }
      for candidate in head.devices where candidate.kind == device.kind.rawValue {
        guard let (rank, closeness) = Self.closeness(device, candidate) else { continue }
        candidates.append((rank, name, candidate, closeness))
      }
    }
    for candidate in candidates.sorted(by: { ($1.rank, $0.name) < ($0.rank, $1.name) }) {
      guard let profile = try? profile(candidate.name),
        profile.nodes.values.contains(where: { $0[candidate.device.id] != nil })
      else { continue }
      return Match(
        name: candidate.name, profile: profile, device: candidate.device, closeness: candidate.closeness)
    }
    return nil
  }

  /// Returns the fit of a match; nil if the profile has not enough measurements of the device.
  func fit(of match: Match, threads: Int) -> ProfileFit? {
    let name = "\(match.name) \(match.device.id) \(threads)"
    if let known = read.fits.withLock({ $0[name] }) { return known }
    let fit = ProfileFit(match.profile, device: match.device.id, threads: threads)
    read.fits.withLock { $0[name] = .some(fit) }
    return fit
  }

  /// Returns the median error of estimates from one machine over all nodes of the other machines of its class.
  ///
  /// - Returns: nil if no other machine of the class was measured.
  func errorElsewhere(of match: Match, threads: Int) -> Double? {
    guard let fit = fit(of: match, threads: threads) else { return nil }
    var errors: [Double] = []
    for name in names where name != match.name {
      guard let head = head(name), head.isMeasured,
        head.machine.processor != match.profile.machine.processor
      else { continue }
      for device in head.devices where device.kind == match.device.kind && device.isSameClass(as: match.device) {
        guard let profile = try? profile(name) else { continue }
        for (key, costs) in profile.nodes {
          guard let measured = costs[device.id]?.seconds, measured > 0, let work = profile.work[key] else { continue }
          let seconds = fit.coefficients.estimate(operator: work.op, operations: work.operations, bytes: work.bytes)
          errors.append(abs(seconds - measured) / measured)
        }
      }
    }
    return errors.isEmpty ? nil : errors.sorted()[(errors.count - 1) / 2]
  }

  private static func closeness(_ device: DeviceInfo, _ measured: DeviceIdentity) -> (Int, String)? {
    let isSameDriver = device.driver.driverClass == measured.driver.driverClass
    switch device.kind {
    case .cpu:
      if device.name == measured.name, isSameDriver { return (3, "the same processor name, \(measured.name)") }
      return isSameDriver ? (2, "a processor with the same instructions, \(measured.name)") : nil
    case .software:
      guard isSameDriver else { return nil }
      return device.name == measured.name && device.driver == measured.driver
        ? (3, "the same driver, \(measured.driver)") : (2, "the same driver, \(measured.driver)")
    case .integratedGPU, .discreteGPU, .accelerator:
      return device.name == measured.name ? (isSameDriver ? 3 : 2, "the same card, \(measured.name)") : nil
    case .reference, .null: return nil
    }
  }

  private static let embedded: [String: [UInt8]] = {
    var count = 0
    let first = kelvin_shipped_profiles(&count)
    var documents: [String: [UInt8]] = [:]
    for profile in UnsafeBufferPointer(start: first, count: count) where String(cString: profile.folder) == "devices" {
      let bytes = UnsafeRawBufferPointer(start: profile.text, count: profile.size)
      documents[String(cString: profile.name)] = Array(bytes)
    }
    return documents
  }()
}

extension DeviceIdentity {
  /// Whether estimates for one apply to the other: cards are compared by name, all other devices by driver.
  fileprivate func isSameClass(as other: DeviceIdentity) -> Bool {
    switch kind {
    case DeviceInfo.Kind.cpu.rawValue, DeviceInfo.Kind.software.rawValue:
      driver.driverClass == other.driver.driverClass
    default: name == other.name
    }
  }
}

extension String {
  /// A driver's name without versions and without the suffix after a plus. That suffix names instruction sets that
  /// only matter for precisions below float32.
  fileprivate var driverClass: Substring { prefix { $0 != " " && $0 != "+" } }
}
