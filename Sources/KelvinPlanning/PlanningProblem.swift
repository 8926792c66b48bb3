/// The input of a policy: a graph's costs and the properties of devices.
///
/// A problem is valid by construction: `init` and decoding check every name and number and throw a `PlanningError`.
/// Times are in seconds, sizes in bytes.
///
/// - Graph inputs start on `host`, and outputs must end there. A value is present on a non-empty *set* of devices. One
///   copy serves every consumer on that device, and a copy may be made from any existing copy, relays included.
/// - A pair that is absent from `transfers` has no direct link.
/// - A copy of `n` bytes takes `latency + n / bytesPerSecond + boundarySeconds[to]`. The boundary cost (a fence, a
///   submission and its wait) is paid once for every copy *into* that device, so `predicted` is the sum of node and
///   transfer seconds.
/// - The copies of a value count `copies` times. A value with infinite `copies` is never copied, so its producer and
///   readers share a device. The copies of a signal take the `signalSeconds` of their target device instead of a link's
///   time. Control flow is described by these three, see `docs/guide/background/planning.md`.
/// - An excluded device runs no node and holds no copy. An excluded host runs no node, but values still start, end and
///   pass there.
/// - `memory` limits the bytes on a device at once: the weights of its nodes, which stay there, and the values while the
///   nodes run in order.
/// - A device may copy a node's weights from the host before each use instead, for `streamSeconds`. These copies take
///   turns in `ringPlaces` places, each as large as the largest of them. Only serial goals stream.
package struct PlanningProblem: Hashable, Sendable {
  package struct Transfer: Hashable, Sendable, Codable {
    package var from: String
    package var to: String
    /// Seconds of an empty copy, synchronization included.
    package var latency: Double
    /// `nil` when size costs nothing (shared memory).
    package var bytesPerSecond: Double?
    /// The power above idle while copying; `nil` counts as none.
    package var watts: Double?

    enum CodingKeys: String, CodingKey, CaseIterable { case from, to, latency, bytesPerSecond, watts }

    package init(from: String, to: String, latency: Double, bytesPerSecond: Double?, watts: Double? = nil) {
      self.from = from
      self.to = to
      self.latency = latency
      self.bytesPerSecond = bytesPerSecond
      self.watts = watts
    }
  }

  package struct Value: Hashable, Sendable {
    package var value: String
    package var bytes: Int
    /// The number of times that one inference makes each copy: the expected iterations for a value inside a loop.
    /// Infinite for a value that is never copied: its readers run on its device.
    package var copies: Double
    /// For a signal, which tells a device to begin: the seconds of each copy to a device, from any device; 0 if absent.
    /// Empty for values that links move.
    package var signalSeconds: [String: Double]

    package init(value: String, bytes: Int, copies: Double = 1, signalSeconds: [String: Double] = [:]) {
      self.value = value
      self.bytes = bytes
      self.copies = copies
      self.signalSeconds = signalSeconds
    }
  }

  /// A constant that a device keeps to run a node.
  package struct Weight: Hashable, Sendable, Codable {
    /// Nodes with the same weight share it: it counts once on each device.
    package var weight: String
    package var bytes: Int
    /// The devices that keep the weight in this form; nil for all devices.
    package var devices: [String]?

    enum CodingKeys: String, CodingKey, CaseIterable { case weight, bytes, devices }

    package init(weight: String, bytes: Int, devices: [String]? = nil) {
      self.weight = weight
      self.bytes = bytes
      self.devices = devices
    }
  }

  package struct Node: Hashable, Sendable {
    package var id: String
    /// The values read; a value named twice counts once.
    package var inputs: [String]
    package var outputs: [Value]
    package var weights: [Weight]
    /// Seconds by device; a device that is absent cannot run the node.
    package var seconds: [String: Double]
    /// Dynamic energy above idle, by device. Goal `sustained` requires it for every device that may run the node.
    package var joules: [String: Double]
    /// By device, the additional seconds of compilation and the first run beyond one warm run; 0 if absent.
    package var startSeconds: [String: Double]
    /// By device, the additional seconds if the weights that no other node reads are copied there before each use; a
    /// device that is absent keeps them.
    package var streamSeconds: [String: Double]
    /// By device, the origin of `seconds`; estimated by default.
    package var source: [String: CostSource]
    /// By device, the reason why it cannot run the node.
    package var unsupported: [String: String]

    package init(
      id: String, inputs: [String], outputs: [Value], weights: [Weight] = [], seconds: [String: Double],
      joules: [String: Double] = [:], startSeconds: [String: Double] = [:], streamSeconds: [String: Double] = [:],
      source: [String: CostSource] = [:], unsupported: [String: String] = [:]
    ) {
      self.weights = weights
      self.streamSeconds = streamSeconds
      self.id = id
      self.inputs = inputs
      self.outputs = outputs
      self.seconds = seconds
      self.joules = joules
      self.startSeconds = startSeconds
      self.source = source
      self.unsupported = unsupported
    }
  }

  /// One-time costs before and during the first inference. A device is used when it runs a node or receives a copy; the
  /// host, only when it runs a node.
  package struct Start: Hashable, Sendable, Codable {
    /// Seconds to read and prepare the model, for every plan.
    package var load: Double
    /// The number of inferences after the first.
    package var runs: Int
    /// Seconds paid once when the device is used; 0 if absent.
    package var devices: [String: Double]

    package init(load: Double = 0, runs: Int = 0, devices: [String: Double] = [:]) {
      self.load = load
      self.runs = runs
      self.devices = devices
    }
  }

  /// The power budget of `sustained`: `joules` may be spent at `sustainableWatts - idleWatts`.
  package struct Power: Hashable, Sendable, Codable {
    package var idleWatts: Double
    /// The power that can be sustained indefinitely; above `idleWatts`.
    package var sustainableWatts: Double

    enum CodingKeys: String, CodingKey, CaseIterable { case idleWatts, sustainableWatts }

    package init(idleWatts: Double, sustainableWatts: Double) {
      self.idleWatts = idleWatts
      self.sustainableWatts = sustainableWatts
    }
  }

  /// The devices, at most `maximumDevices`.
  package let devices: [String]
  package let host: String
  package let transfers: [Transfer]
  package let inputs: [Value]
  package let outputs: [String]
  /// The nodes in any order.
  package let nodes: [Node]
  package let goal: Goal
  /// The only device of each pinned node, by id.
  package let pins: [String: String]
  package let exclude: [String]
  /// The bytes of weights and values that a device may hold at once; unlimited if absent.
  package let memory: [String: Int]
  /// Seconds added to every copy into the device.
  package let boundarySeconds: [String: Double]
  /// The resource of each device. Devices of one resource share hardware and never overlap; a device that is absent is
  /// a resource of its own.
  package let resource: [String: String]
  /// `nil` means start costs of zero and no run after the first.
  package let start: Start?
  package let power: Power?

  private(set) var index = ProblemIndex()

  package static let maximumDevices = 8
  /// The number of nodes whose streamed weights are on a device at once: one that runs, and the next.
  package static let ringPlaces = 2
  /// The most inferences of a one-shot plan.
  package static let mostRuns = 1_000_000_000_000

  package init(
    devices: [String], host: String, transfers: [Transfer], inputs: [Value], outputs: [String], nodes: [Node],
    goal: Goal = .latency, pins: [String: String] = [:], exclude: [String] = [], memory: [String: Int] = [:],
    boundarySeconds: [String: Double] = [:], resource: [String: String] = [:], start: Start? = nil,
    power: Power? = nil
  ) throws(PlanningError) {
    self.devices = devices
    self.host = host
    self.transfers = transfers
    self.inputs = inputs
    self.outputs = outputs
    self.nodes = nodes
    self.goal = goal
    self.pins = pins
    self.exclude = exclude
    self.memory = memory
    self.boundarySeconds = boundarySeconds
    self.resource = resource
    self.start = start
    self.power = power
    var reader = ProblemReader(self)
    index = try reader.read()
  }

  /// Returns the problem with the given properties replaced.
  package func with(
    goal: Goal? = nil, pins: [String: String]? = nil, exclude: [String]? = nil,
    boundarySeconds: [String: Double]? = nil, start: Start? = nil, power: Power? = nil
  ) throws(PlanningError) -> PlanningProblem {
    try PlanningProblem(
      devices: devices, host: host, transfers: transfers, inputs: inputs, outputs: outputs, nodes: nodes,
      goal: goal ?? self.goal, pins: pins ?? self.pins, exclude: exclude ?? self.exclude, memory: memory,
      boundarySeconds: boundarySeconds ?? self.boundarySeconds, resource: resource, start: start ?? self.start,
      power: power ?? self.power)
  }

  /// Returns a given placement with its best copies as a solution of this problem, which need not be optimal.
  ///
  /// - Parameter lowerBound: a lower bound of the objective over all placements.
  /// - Returns: nil when the placement is not valid for this problem: other nodes or devices, a pin that is not kept,
  ///   or a memory limit that is exceeded.
  package func solution(placing placement: [String: String], lowerBound: Double) -> PlanSolution? {
    guard placement.count == nodes.count, pins.allSatisfy({ placement[$0.key] == $0.value }) else { return nil }
    return (try? with(pins: placement).solve())?.bounded(by: lowerBound)
  }

  package static func == (a: PlanningProblem, b: PlanningProblem) -> Bool {
    a.devices == b.devices && a.host == b.host && a.transfers == b.transfers && a.inputs == b.inputs
      && a.outputs == b.outputs && a.nodes == b.nodes && a.goal == b.goal && a.pins == b.pins
      && a.exclude == b.exclude && a.memory == b.memory && a.boundarySeconds == b.boundarySeconds
      && a.resource == b.resource && a.start == b.start && a.power == b.power
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(devices)
    hasher.combine(nodes)
    hasher.combine(transfers)
  }
}
