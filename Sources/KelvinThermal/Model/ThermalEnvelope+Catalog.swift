import CKelvinSupport
import Glibc
package import KelvinMeasurements

extension ThermalEnvelope {
  /// The envelopes of `Profiles/thermal/`, from the one that sustains least to the one that sustains most. They are
  /// part of the binary.
  package static let shipped: [ThermalEnvelope] = {
    var count = 0
    let first = kelvin_shipped_profiles(&count)
    return UnsafeBufferPointer(start: first, count: count).compactMap { profile in
      guard String(cString: profile.folder) == "thermal" else { return nil }
      let bytes = UnsafeRawBufferPointer(start: profile.text, count: profile.size)
      return try? ThermalEnvelope(json: Array(bytes), document: String(cString: profile.name))
    }.sorted { $0.sustainableWatts < $1.sustainableWatts }
  }()

  /// An envelope by its name, or from a file where the text has a slash or ends in `.json`.
  ///
  /// - Throws: `unknownEnvelope`, `unreadable`, or what is wrong with the file.
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

  /// The class of machine to assume where nothing better is known: a guest runs on a server, anything else is taken
  /// for a desktop. A guest has its share of it.
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
