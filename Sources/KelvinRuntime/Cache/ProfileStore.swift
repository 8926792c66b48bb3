package import KelvinDevices
import KelvinGraph
package import KelvinProfiling

/// The measurements of this machine, kept for the user between processes.
package struct ProfileStore: Sendable {
  private let directory: CacheDirectory
  private let kelvinVersion: String
  private static let name = "profiles/measured.json"

  package init(_ directory: CacheDirectory, kelvinVersion: String) {
    self.directory = directory
    self.kelvinVersion = kelvinVersion
  }

  /// What was measured here and still holds, and why the rest does not. A file that cannot be read counts as empty,
  /// with that reason.
  package func load(devices: [DeviceInfo]) -> (profile: MeasuredProfile?, remarks: [String]) {
    guard let bytes = directory.read(Self.name) else { return (nil, []) }
    do throws(ProfilingError) {
      let profile = try MeasuredProfile(json: bytes.withUnsafeBytes { Array($0) }, document: Self.name)
      let stale = profile.staleness(
        kelvinVersion: kelvinVersion, machine: MachineDescription(SystemFiles()), devices: devices.map(\.identity))
      // A device that is merely absent keeps its measurements for when it returns.
      let invalid = stale.filter { if case .deviceAbsent = $0 { false } else { true } }
      return (profile.removing(invalid), invalid.map(\.description))
    } catch {
      return (nil, [error.description])
    }
  }

  /// Lays new measurements over the stored ones.
  package func save(_ profile: MeasuredProfile) throws(ProfilingError) {
    var merged = profile
    if let bytes = directory.read(Self.name), let stored = try? MeasuredProfile(json: bytes.withUnsafeBytes { Array($0) }, document: Self.name),
      let combined = try? stored.merging(profile)
    {
      merged = combined
    }
    let bytes = try merged.json()
    bytes.withUnsafeBytes { _ = directory.write(Self.name, [$0]) }
  }
}
