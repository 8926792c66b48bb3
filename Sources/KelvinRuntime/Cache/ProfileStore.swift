package import KelvinDevices
import KelvinGraph
package import KelvinMeasurements

/// The measurements of this machine, kept for the user between processes.
package struct ProfileStore: Sendable {
  private let directory: CacheDirectory
  private let kelvinVersion: String
  private static let name = "profiles/measured.json"
  private static let rejectedName = "profiles/rejected.json"
  private static let unsealed = MeasurementError.unreadable(
    document: name, reason: "it is not what was kept there, but damaged, changed or an earlier Kelvin's")

  package init(_ directory: CacheDirectory, kelvinVersion: String) {
    self.directory = directory
    self.kelvinVersion = kelvinVersion
  }

  /// What was measured here and still holds, and why the rest does not. A file that cannot be read counts as empty,
  /// with that reason.
  ///
  /// - Parameter devices: those that matter; measurements of others are neither looked at nor taken out.
  package func load(devices: [DeviceInfo]) -> (profile: MeasuredProfile?, remarks: [String]) {
    guard let json = stored else { return (nil, []) }
    guard directory.isSealed(document: json, Self.name) else { return (nil, [Self.unsealed.description]) }
    do throws(MeasurementError) {
      let profile = try MeasuredProfile(json: json, document: Self.name)
      let stale = profile.staleness(
        kelvinVersion: kelvinVersion, machine: MachineDescription(SystemFiles()), devices: devices.map(\.identity))
      // A device that is merely absent keeps its measurements for when it returns.
      let invalid = stale.filter { if case .deviceAbsent = $0 { false } else { true } }
      return (profile.removing(invalid), invalid.map(\.description))
    } catch {
      return (nil, [error.description])
    }
  }

  /// Keeps what was found by running plans against one another.
  ///
  /// - Parameter devices: those of the plans.
  /// - Returns: as the other form does.
  package func save(_ trials: [TriedPlans], devices: [DeviceInfo]) throws(MeasurementError) -> [String] {
    guard !trials.isEmpty else { return [] }
    return try save(
      MeasuredProfile(
        kelvinVersion: kelvinVersion, machine: MachineDescription(SystemFiles()), devices: devices.map(\.identity),
        trials: trials))
  }

  /// Lays new measurements over the stored ones, one process at a time.
  ///
  /// - Returns: what the user should know: why stored measurements could not be kept. Those of a file that cannot be
  ///   read, or is not what was kept, are left beside the new one.
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
      // The store is of many measurements, whole ones and others.
      merged.isPartial = false
      // Every model that is planned with the store is at hand.
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
