/// The measured costs of one machine, for any number of models. The planner reads them.
///
/// A node is identified by its fingerprint (operator, attributes, shapes), the precision in which the device computes
/// it and the number of threads. Identical layers therefore share entries, within a model and across models.
/// `docs/profile-format.md` describes the document.
package struct MeasuredProfile: Sendable, Hashable {
  /// The origin of the costs.
  package enum Label: String, Sendable, Hashable, Codable {
    case measured
    /// Computed or assembled for hypothetical questions, never measured as a whole.
    case sample
  }

  package static let format = "kelvin-profile"
  package static let version = 3
  /// The largest document in bytes, more than four times that of ten thousand nodes on ten devices.
  package static let largestDocument = 128 << 20

  package var kelvinVersion: String
  package var label: Label
  /// A remark for people on the origin of the costs.
  package var note: String?
  /// Whether the measurement ended early, so that nodes or devices are missing.
  package var isPartial: Bool
  package var machine: MachineDescription
  package var devices: [DeviceIdentity]
  /// Costs by node key and device id.
  package var nodes: [String: [String: NodeCost]]
  /// Work by node key.
  package var work: [String: NodeWork]
  package var transfers: [TransferCost]
  package var corun: [CorunFactor]
  /// Costs by model key and device id.
  package var startup: [String: [String: StartupCost]]
  /// Graphs by model key.
  package var models: [String: ProfiledModel]
  /// Errors of predictions by model key.
  package var accuracy: [String: ModelAccuracy]
  /// The pace of the processors during the measurements by number of threads: steps per second of the slowest thread.
  package var pace: [Int: Double]
  /// Comparisons of plans; one for each graph, precision, number of threads and set of devices.
  package var trials: [TriedPlans]

  package init(
    kelvinVersion: String, machine: MachineDescription, devices: [DeviceIdentity] = [],
    nodes: [String: [String: NodeCost]] = [:], transfers: [TransferCost] = [],
    startup: [String: [String: StartupCost]] = [:], work: [String: NodeWork] = [:], corun: [CorunFactor] = [],
    models: [String: ProfiledModel] = [:], accuracy: [String: ModelAccuracy] = [:], pace: [Int: Double] = [:],
    trials: [TriedPlans] = [],
    label: Label = .measured, note: String? = nil, isPartial: Bool = false
  ) {
    self.kelvinVersion = kelvinVersion
    self.label = label
    self.note = note
    self.isPartial = isPartial
    self.machine = machine
    self.devices = devices
    self.nodes = nodes
    self.work = work
    self.transfers = transfers
    self.corun = corun
    self.startup = startup
    self.models = models
    self.accuracy = accuracy
    self.pace = pace
    self.trials = trials
  }

  package func cost(node key: String, device: String) -> NodeCost? { nodes[key]?[device] }

  package func transfer(from: String, to: String) -> TransferCost? {
    transfers.first { $0.from == from && $0.to == to }
  }

  package func corun(_ a: String, _ b: String) -> CorunFactor? {
    corun.first { ($0.a == a && $0.b == b) || ($0.a == b && $0.b == a) }
  }

  /// Returns the comparison of a graph's plans under the same conditions with the most devices among `devices`.
  package func trial(graph: String, precision: String, threads: Int, among devices: Set<String>) -> TriedPlans? {
    trials.filter {
      $0.graph == graph && $0.precision == precision && $0.threads == threads && $0.devices.isSubset(of: devices)
    }.max { $0.devices.count < $1.devices.count }
  }

  package func device(_ id: String) -> DeviceIdentity? { devices.first { $0.id == id } }

  /// The number of threads with which most of the nodes were measured; nil when no key contains one.
  package var threads: Int? {
    var counts: [Int: Int] = [:]
    for key in nodes.keys {
      guard key.last == "t", let space = key.lastIndex(of: " "),
        let count = Int(key[key.index(after: space)...].dropLast()), count > 0
      else { continue }
      counts[count, default: 0] += 1
    }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }
}
