import CKelvinSupport
import Glibc
package import KelvinMeasurements

extension ThermalEnvelope {
  /// The envelopes of `Profiles/thermal/`, in order of sustainable power. They are part of the binary.
  package static let shipped: [ThermalEnvelope] = {
    var count = 0
    let first = kelvin_shipped_profiles(&count)
    return UnsafeBufferPointer(start: first, count: count).compactMap { profile in
      guard String(cString: profile.folder) == "thermal" else { return nil }
      let bytes = UnsafeRawBufferPointer(start: profile.text, count: profile.size)
      return try? ThermalEnvelope(json: Array(bytes), document: String(cString: profile.name))
    }.sorted { $0.sustainableWatts < $1.sustainableWatts }
  }()

  /// Returns the envelope of that name, or reads it from a file if the string contains a slash or ends in `.json`.
  ///
  /// - Throws: `unknownEnvelope`, `unreadable`, or an error of the file's content.
  package init(named text: String) throws(MeasurementError) {
    if let known = Self.shipped.first(where: { $0.name == text }) {
      self = known
      return
    }
    guard text.contains("/") || text.hasSuffix(".json") else {
      throw .unknownEnvelope(text, known: Self.shipped.map(\.name))
    }
    let files = SystemFiles(root: text.hasPrefix("/") ? "/" : ".")
    switch files.bytes(text, limit: Self.largestDocument) {
    case .success(let bytes): try self.init(json: bytes, document: text)
    case .failure(let failure):
      guard case .tooLong(let bytes) = failure else { throw .unreadable(document: text, reason: failure.description) }
      throw .documentTooLarge(document: text, bytes: bytes, limit: Self.largestDocument)
    }
  }

  /// Returns the envelope to assume without further information: a server's share for a guest, a desktop otherwise.
  package static func assumed(for machine: MachineDescription) -> ThermalEnvelope {
    (machine.isVirtualised ? ThermalEnvelope.server : .desktop).share(of: machine)
  }

  package static let phone = carried("phone")
  package static let desktop = carried("desktop")
  package static let server = carried("server")

  private static func carried(_ name: String) -> ThermalEnvelope {
    guard let envelope = shipped.first(where: { $0.name == name }) else {
      preconditionFailure("this build does not carry Profiles/thermal/\(name).json")
    }
    return envelope
  }
}
