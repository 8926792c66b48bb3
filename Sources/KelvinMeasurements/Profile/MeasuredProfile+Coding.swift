extension MeasuredProfile: Codable {
  private enum CodingKeys: String, CodingKey {
    case format, version, kelvinVersion, label, note, isPartial, machine, devices, nodes, work, transfers, corun,
      startup, models, accuracy, trials
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func part<T: Decodable>(_ key: CodingKeys, _ none: T) throws -> T {
      try fields.decodeIfPresent(T.self, forKey: key) ?? none
    }
    self.init(
      kelvinVersion: try fields.decode(String.self, forKey: .kelvinVersion),
      machine: try fields.decode(MachineDescription.self, forKey: .machine),
      devices: try fields.decode([DeviceIdentity].self, forKey: .devices),
      nodes: try fields.decode([String: [String: NodeCost]].self, forKey: .nodes),
      transfers: try fields.decode([TransferCost].self, forKey: .transfers),
      startup: try part(.startup, [:]), work: try part(.work, [:]), corun: try part(.corun, []),
      models: try part(.models, [:]), accuracy: try part(.accuracy, [:]), trials: try part(.trials, []),
      label: try part(.label, .measured),
      note: try fields.decodeIfPresent(String.self, forKey: .note), isPartial: try part(.isPartial, false))
    if try part(.version, Self.version) < 3 { nameByEffectivePrecision() }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(Self.format, forKey: .format)
    try fields.encode(Self.version, forKey: .version)
    try fields.encode(kelvinVersion, forKey: .kelvinVersion)
    try fields.encode(label, forKey: .label)
    try fields.encodeIfPresent(note, forKey: .note)
    if isPartial { try fields.encode(true, forKey: .isPartial) }
    try fields.encode(machine, forKey: .machine)
    try fields.encode(devices, forKey: .devices)
    try fields.encode(nodes, forKey: .nodes)
    try fields.encode(work, forKey: .work)
    try fields.encode(transfers, forKey: .transfers)
    try fields.encode(corun, forKey: .corun)
    try fields.encode(startup, forKey: .startup)
    try fields.encode(models, forKey: .models)
    if !accuracy.isEmpty { try fields.encode(accuracy, forKey: .accuracy) }
    if !trials.isEmpty { try fields.encode(trials, forKey: .trials) }
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
