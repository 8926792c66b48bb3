/// A graph's costs and a few numbers about devices, all values: what a policy sees.
///
/// A problem is valid by construction: `init` and decoding check every name and number and throw a `PlanningError`.
/// Seconds and bytes throughout.
///
/// - Graph inputs start on `host` and outputs must end there. A value lives on a non-empty *set* of devices; one copy
///   serves every consumer on that device, and a copy may be made from any copy that exists (relays included).
/// - A pair absent from `transfers` cannot be crossed directly.
/// - A copy of `n` bytes takes `latency + n / bytesPerSecond + boundarySeconds[to]`: the boundary cost (a fence, a
///   submission and its wait) is paid once for every copy *into* that device, so that `predicted` stays the sum of node
///   and transfer seconds.
/// - A value's copies count as often as its `copies` says, and a value with infinitely many is never copied, so that
///   its producer and its readers share a device. A signal's copies take what `signalSeconds` says of the device they
///   reach in place of a link's time. Control flow is told in these three, see `docs/design/planning.md`.
/// - An excluded device runs no node and holds no copy. An excluded host runs no node, but values still start, end and
///   pass there.
/// - `memory` bounds the bytes of values resident on a device at once while the nodes run in order; weights are the
///   caller's to subtract.
package struct PlanningProblem: Hashable, Sendable {
  package struct Transfer: Hashable, Sendable, Codable {
    package var from: String
    package var to: String
    /// Seconds for an empty copy, synchronisation included.
    package var latency: Double
    /// `nil` when size costs nothing (shared memory).
    package var bytesPerSecond: Double?
    /// Power above idle while copying; `nil` counts as none.
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
    /// How often one inference makes each copy of it: a loop's expected trips for a value inside the loop. Infinite for
    /// a value that is never copied: who reads it runs where it is.
    package var copies: Double
    /// For a signal, by which a device is told to begin something: per device, seconds of each copy that reaches it,
    /// wherever from; 0 where absent. Empty for what links move.
    package var signalSeconds: [String: Double]

    package init(value: String, bytes: Int, copies: Double = 1, signalSeconds: [String: Double] = [:]) {
      self.value = value
      self.bytes = bytes
      self.copies = copies
      self.signalSeconds = signalSeconds
    }
  }

  package struct Node: Hashable, Sendable {
    package var id: String
    /// Values read; a value named twice counts once.
    package var inputs: [String]
    package var outputs: [Value]
    /// Per device; a device absent here cannot run the node.
    package var seconds: [String: Double]
    /// Dynamic energy per device, above idle: `sustained` needs it on every device that may run the node.
    package var joules: [String: Double]
    /// Per device, what compiling the node and its first run there cost beyond one warm run; 0 where absent.
    package var startSeconds: [String: Double]
    /// Per device, where `seconds` comes from; estimated unless said.
    package var source: [String: CostSource]
    /// Per device, why it cannot run the node.
    package var unsupported: [String: String]

    package init(
      id: String, inputs: [String], outputs: [Value], seconds: [String: Double], joules: [String: Double] = [:],
      startSeconds: [String: Double] = [:], source: [String: CostSource] = [:], unsupported: [String: String] = [:]
    ) {
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

  /// What is paid once, before and during the first inference. A device is used when it runs a node or a copy is made
  /// to it; the host, when it runs a node.
  package struct Start: Hashable, Sendable, Codable {
    /// Seconds to read and prepare the model, whatever the plan.
    package var load: Double
    /// Inferences after the first.
    package var runs: Int
    /// Seconds paid once when the device is used at all; 0 where absent.
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
    /// Power that can be held for ever; above `idleWatts`.
    package var sustainableWatts: Double

    enum CodingKeys: String, CodingKey, CaseIterable { case idleWatts, sustainableWatts }

    package init(idleWatts: Double, sustainableWatts: Double) {
      self.idleWatts = idleWatts
      self.sustainableWatts = sustainableWatts
    }
  }

  /// At most `maximumDevices`.
  package let devices: [String]
  package let host: String
  package let transfers: [Transfer]
  package let inputs: [Value]
  package let outputs: [String]
  /// In any order.
  package let nodes: [Node]
  package let goal: Goal
  /// Node id to the only device it may run on.
  package let pins: [String: String]
  package let exclude: [String]
  /// Bytes of values a device may hold at once; absent means no limit.
  package let memory: [String: Int]
  /// Seconds added to every copy into the device.
  package let boundarySeconds: [String: Double]
  /// Devices of one resource share silicon and never overlap; a device absent here is a resource of its own name.
  package let resource: [String: String]
  /// `nil` counts as a start that costs nothing, and no run after the first.
  package let start: Start?
  package let power: Power?

  let index: ProblemIndex

  package static let maximumDevices = 8
  /// Most inferences a one-shot plan may be asked for.
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
    var reader = ProblemReader(
      devices: devices, host: host, transfers: transfers, inputs: inputs, outputs: outputs, nodes: nodes, pins: pins,
      exclude: exclude, memory: memory, boundarySeconds: boundarySeconds, resource: resource, start: start,
      power: power)
    self.index = try reader.read()
  }

  /// The same problem with what is given replaced.
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

  /// A given placement with its best copies, as a plan of this problem that need not be the best.
  ///
  /// - Parameter lowerBound: no placement has a lower objective.
  /// - Returns: nil where the placement is none of this problem: other nodes or devices, a pin that it does not keep, a
  ///   limit of memory that it exceeds.
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
