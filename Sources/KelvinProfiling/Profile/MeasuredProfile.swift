/// A device as it was when measured. A change of driver or version makes its measurements stale.
package struct DeviceIdentity: Sendable, Hashable, Codable {
  /// `cpu`, `vulkan:0`, `opencl:1`.
  package var id: String
  package var name: String
  package var driver: String
  package var version: String

  package init(id: String, name: String, driver: String, version: String) {
    self.id = id
    self.name = name
    self.driver = driver
    self.version = version
  }
}

/// Whose clock timed a node.
package enum TimingSource: String, Sendable, Hashable, Codable {
  case hostClock = "host clock"
  case deviceTimestamps = "device timestamps"
}

/// What one node costs on one device.
package struct NodeCost: Sendable, Hashable, Codable {
  /// Median seconds, warm, in context.
  package var seconds: Double
  /// Of the median.
  package var interval: ConfidenceInterval
  package var samples: Int
  package var source: TimingSource
  /// The interval stayed wider than asked for.
  package var isNoisy: Bool
  /// Dynamic energy, where it was measured or estimated.
  package var joules: Double?

  package init(
    seconds: Double, interval: ConfidenceInterval, samples: Int, source: TimingSource, isNoisy: Bool = false,
    joules: Double? = nil
  ) {
    self.seconds = seconds
    self.interval = interval
    self.samples = samples
    self.source = source
    self.isNoisy = isNoisy
    self.joules = joules
  }

  /// - Parameter bound: relative uncertainty of the median above which the cost is flagged noisy.
  package init(_ statistics: LatencyStatistics, source: TimingSource, bound: Double = 0.05, joules: Double? = nil) {
    self.init(
      seconds: statistics.median, interval: statistics.medianInterval, samples: statistics.count, source: source,
      isNoisy: !(statistics.relativeUncertainty <= bound), joules: joules)
  }
}

/// Moving n bytes from one device to another takes `latency + n / bytesPerSecond`, synchronisation included.
package struct TransferCost: Sendable, Hashable, Codable {
  package var from: String
  package var to: String
  /// Seconds.
  package var latency: Double
  package var bytesPerSecond: Double
  package var samples: Int
  package var isNoisy: Bool

  package init(
    from: String, to: String, latency: Double, bytesPerSecond: Double, samples: Int, isNoisy: Bool = false
  ) {
    self.from = from
    self.to = to
    self.latency = latency
    self.bytesPerSecond = bytesPerSecond
    self.samples = samples
    self.isNoisy = isNoisy
  }

  package func seconds(bytes: Int) -> Double { latency + Double(bytes) / bytesPerSecond }
}

/// What a model costs on one device before the first warm inference, in seconds.
package struct StartupCost: Sendable, Hashable, Codable {
  package var load: Double
  package var compile: Double
  package var firstRun: Double

  package init(load: Double, compile: Double, firstRun: Double) {
    self.load = load
    self.compile = compile
    self.firstRun = firstRun
  }
}

/// Measured costs of one machine, for any number of models: the only thing that flows back from running to planning.
///
/// A node is known by its fingerprint (operator, attributes, shapes, precision), so identical layers share entries, in
/// one model and across models.
package struct MeasuredProfile: Sendable, Hashable, Codable {
  package static let format = "kelvin-profile"
  package static let version = 1
  /// Ten thousand nodes on ten devices stay below a quarter of this.
  package static let largestDocument = 128 << 20

  package var format = MeasuredProfile.format
  package var version = MeasuredProfile.version
  package var kelvinVersion: String
  package var machine: MachineDescription
  package var devices: [DeviceIdentity]
  /// Node fingerprint → device id → cost.
  package var nodes: [String: [String: NodeCost]]
  package var transfers: [TransferCost]
  /// Model key → device id → cost.
  package var startup: [String: [String: StartupCost]]

  package init(
    kelvinVersion: String, machine: MachineDescription, devices: [DeviceIdentity] = [],
    nodes: [String: [String: NodeCost]] = [:], transfers: [TransferCost] = [],
    startup: [String: [String: StartupCost]] = [:]
  ) {
    self.kelvinVersion = kelvinVersion
    self.machine = machine
    self.devices = devices
    self.nodes = nodes
    self.transfers = transfers
    self.startup = startup
  }

  /// - Parameters:
  ///   - bytes: the JSON document.
  ///   - document: what errors call it, usually the file's name.
  package init(json bytes: [UInt8], document: String) throws(ProfilingError) {
    self = try JSONDocument.decode(
      MeasuredProfile.self, from: bytes, document: document, format: Self.format, version: Self.version,
      limit: Self.largestDocument)
    try validate(document: document)
  }

  /// Equal profiles give equal bytes.
  package func json() throws(ProfilingError) -> [UInt8] { try JSONDocument.encode(self, document: "profile") }

  package func cost(node fingerprint: String, device: String) -> NodeCost? { nodes[fingerprint]?[device] }

  package func transfer(from: String, to: String) -> TransferCost? {
    transfers.first { $0.from == from && $0.to == to }
  }

  package func device(_ id: String) -> DeviceIdentity? { devices.first { $0.id == id } }

  /// Share of `fingerprints` that has a cost on `device`, 0...1.
  package func coverage(of fingerprints: [String], device: String) -> Double {
    guard !fingerprints.isEmpty else { return 1 }
    return Double(fingerprints.count { nodes[$0]?[device] != nil }) / Double(fingerprints.count)
  }
}
