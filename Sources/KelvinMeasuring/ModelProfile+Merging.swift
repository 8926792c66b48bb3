package import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinMeasurements

extension ModelProfile {
  /// Merges saved profiles, also of different machines. Later profiles replace earlier ones.
  ///
  /// - Parameters:
  ///   - files: the paths of profiles, or names of profiles that come with Kelvin; at least one.
  ///   - note: called when a device of one file replaces a device of another.
  /// - Returns: the document and a description of its contents.
  /// - Throws: `ModelError` for a file that cannot be read.
  package static func merged(
    _ files: [URL], note: (String) -> Void
  ) throws(ModelError) -> (document: Data, contents: String) {
    var merged: MeasuredProfile?
    for file in files {
      let next = try ModelConfiguration.measuredProfile(file.relativePath)
      guard let before = merged else {
        merged = next
        continue
      }
      for device in next.devices {
        guard let other = before.device(device.id), !other.isSame(as: device) else { continue }
        note(
          "'\(file.relativePath)' has another \(device.id): \(device.name) replaces \(other.name) and all its costs")
      }
      merged = try ModelError.wrapping { try before.merging(next, acrossMachines: true) }
    }
    guard let merged else { throw ModelError(.parameters, "no profiles were named; name at least one") }
    return try ModelError.wrapping {
      (
        Data(try merged.json()),
        "\(counted(merged.devices.count, "device")) and \(counted(merged.nodes.count, "layer"))"
      )
    }
  }
}
