package import KelvinDevices
import KelvinGraph
package import KelvinMeasurements

/// The measurements of this machine, stored for the user between processes.
package struct ProfileStore: Sendable {
  private let directory: CacheDirectory
  private let kelvinVersion: String
  private static let name = "profiles/measured.json"
  private static let rejectedName = "profiles/rejected.json"
  private static let unsealed = MeasurementError.unreadable(
    document: name, reason: "it is not what was saved there: it is damaged, changed or from an earlier Kelvin")

  package init(_ directory: CacheDirectory, kelvinVersion: String) {
    self.directory = directory
    self.kelvinVersion = kelvinVersion
  }

  /// Returns the stored measurements that are still valid, and why the others are not. A file that cannot be read
  /// counts as empty, with a remark that says why.
  ///
  /// - Parameter devices: the devices to check; measurements of other devices are kept without a check.
  package func load(devices: [DeviceInfo]) -> (profile: MeasuredProfile?, remarks: [String]) {
    guard let json = stored else { return (nil, []) }
    guard directory.isSealed(document: json, Self.name) else { return (nil, [Self.unsealed.description]) }
    do throws(MeasurementError) {
      let profile = try MeasuredProfile(json: json, document: Self.name)
      let stale = profile.staleness(
        kelvinVersion: kelvinVersion, machine: MachineDescription(SystemFiles()), devices: devices.map(\.identity))
      // Keep the measurements of an absent device for its return.
      let invalid = stale.filter { if case .deviceAbsent = $0 { false } else { true } }
      return (profile.removing(invalid), invalid.map(\.description))
    } catch {
      return (nil, [error.description])
    }
  }

  /// Stores the results of a trial of plans.
  ///
  /// - Parameter devices: the devices of the plans.
  /// - Returns: the same as the other overload.
  package func save(_ trials: [TriedPlans], devices: [DeviceInfo]) throws(MeasurementError) -> [String] {
    guard !trials.isEmpty else { return [] }
    return try save(
      MeasuredProfile(
        kelvinVersion: kelvinVersion, machine: MachineDescription(SystemFiles()), devices: devices.map(\.identity),
        trials: trials))
  }

  /// Merges new measurements into the stored ones, one process at a time.
  ///
  /// - Returns: remarks for the user if the stored measurements could not be kept. An unreadable or changed file is
  ///   moved aside.
  package func save(_ profile: MeasuredProfile) throws(MeasurementError) -> [String] {
    try directory.locking(Self.name) { () throws(MeasurementError) -> [String] in
      var merged = profile
      var remarks: [String] = []
      if let stored {
        do throws(MeasurementError) {
          merged = try earlier(stored).merging(profile)
        } catch {
          stored.withUnsafeBytes { _ = directory.write(Self.rejectedName, [$0]) }
          remarks = [
            "earlier measurements were moved to '\(directory.path)/\(Self.rejectedName)': \(error.description)"
          ]
        }
      }
      // The store contains many measurements, complete and partial ones.
      merged.isPartial = false
      // Plans from the store are made with the model at hand, so graphs are not stored.
      merged.models = [:]
      directory.writeSealed(document: try merged.json(), Self.name)
      return remarks
    } ?? []
  }

  private var stored: [UInt8]? { directory.read(Self.name)?.withUnsafeBytes { Array($0) } }

  private func earlier(_ json: [UInt8]) throws(MeasurementError) -> MeasuredProfile {
    guard directory.isSealed(document: json, Self.name) else {
      throw Self.unsealed
    }
    return try MeasuredProfile(json: json, document: Self.name)
  }
}
