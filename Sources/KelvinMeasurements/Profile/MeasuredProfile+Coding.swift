import KelvinBasics

extension MeasuredProfile: Codable {
  package init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    self.init(
      kelvinVersion: try fields["kelvinVersion"], machine: try fields["machine"], devices: try fields["devices"],
      nodes: try fields["nodes"], transfers: try fields["transfers"], startup: try fields["startup", or: [:]],
      work: try fields["work", or: [:]], corun: try fields["corun", or: []], models: try fields["models", or: [:]],
      accuracy: try fields["accuracy", or: [:]], pace: try fields["pace", or: [:]],
      trials: try fields["trials", or: []],
      label: try fields["label", or: .measured], note: try fields["note", or: nil],
      isPartial: try fields["isPartial", or: false])
    if try fields["version", or: Self.version] < 3 { nameByEffectivePrecision() }
  }

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "format": Self.format, "version": Self.version, "kelvinVersion": kelvinVersion, "label": label, "note": note,
      "isPartial": isPartial ? true : nil, "machine": machine, "devices": devices, "nodes": nodes, "work": work,
      "transfers": transfers, "corun": corun, "startup": startup, "models": models, "accuracy": accuracy.nonEmpty,
      "pace": pace.nonEmpty, "trials": trials.nonEmpty,
    ]
    try document.encode(to: encoder)
  }

  /// - Parameters:
  ///   - bytes: the JSON document, of this version or an earlier one.
  ///   - document: the document's name in errors, usually the file's name.
  package init(json bytes: [UInt8], document: String) throws(MeasurementError) {
    self = try JSONDocument.decode(
      MeasuredProfile.self, from: bytes, document: document, format: Self.format, version: Self.version,
      limit: Self.largestDocument)
    try validate(document: document)
  }

  /// Returns the JSON document. Equal profiles give equal bytes.
  package func json() throws(MeasurementError) -> [UInt8] { try JSONDocument.encode(self, document: "profile") }

  /// The head of a profile without its costs, which takes a fraction of the time to read.
  package struct Head: Decodable, Sendable {
    private var label: Label?
    package var machine: MachineDescription
    package var devices: [DeviceIdentity]
    /// Whether the costs were measured, as opposed to those of a sample.
    package var isMeasured: Bool { label ?? .measured == .measured }

    /// - Throws: the errors of `MeasuredProfile.init(json:document:)`; costs are not checked.
    package init(json bytes: [UInt8], document: String) throws(MeasurementError) {
      self = try JSONDocument.decode(
        Head.self, from: bytes, document: document, format: MeasuredProfile.format, version: MeasuredProfile.version,
        limit: MeasuredProfile.largestDocument)
    }
  }
}
