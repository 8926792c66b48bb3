import KelvinBasics
import KelvinGraph
import KelvinPlanning

extension ComputePlan {
  /// The placement of an operation.
  public struct DeviceUsage: Hashable, Sendable {
    /// The device that runs it.
    public let preferred: ComputeDevice
    /// The requested devices that support the operation.
    public let supported: [ComputeDevice]
    /// The reason for the preferred device.
    public let reason: String
    /// The time that a prediction would lose with the operation on its second best device and everything else placed
    /// optimally. Nil if no other device may run it, or the number is not known.
    public let regret: Duration?
  }

  /// The cost of an operation.
  public struct Cost: Hashable, Sendable {
    /// The operation's share of the whole model's predicted cost, 0…1.
    public let weight: Double
    /// The time on its device.
    public let time: Duration
    /// Whether the time was measured on this machine instead of estimated.
    public let isMeasured: Bool
  }

  /// A layer of the plan: one node of the graph, which may represent several fused operations.
  public struct Layer: Hashable, Sendable {
    /// The layer's name, which `ModelConfiguration.pins` refer to.
    public let name: String
    /// The graph that contains the layer, by `Graph.name`.
    public let graphName: String
    /// The name of the layer's operator.
    public let operatorName: String
    /// The model's operations that the layer represents.
    public let operations: [String]
    /// The layers whose values it reads, and the names of model inputs that it reads.
    public let inputs: [String]
    /// The layer's placement, the alternatives and the reason.
    public let usage: DeviceUsage
    /// The layer's cost on each device considered, or the reason why a device cannot run it.
    public let costs: [DeviceCost]
    /// The copies that are made for the layer.
    public let transfers: [Transfer]
    /// The path of branches and loops that contain the layer, outermost first: `loop_1/body`, `branch_2/then`; nil at
    /// the top level. A branch or loop is itself a layer of that name.
    public let region: String?
    /// How often one prediction is expected to run the layer, because of loops. The layer's costs cover all these runs.
    public let runs: Double

    /// The device that runs it.
    public var device: ComputeDevice { usage.preferred }
    /// The cost on that device.
    var cost: (seconds: Double, isMeasured: Bool)? {
      costs.first { $0.device == device }.flatMap { cost in cost.candidate.seconds.map { ($0, cost.isMeasured) } }
    }

    init?(_ node: Plan.Node, of graph: String, _ devices: [String: ComputeDevice]) {
      guard let device = devices[node.device] else { return nil }
      name = node.name
      graphName = graph
      operatorName = node.op
      operations = node.origins.map(\.name)
      inputs = node.inputs
      costs = node.candidates.compactMap { candidate in
        devices[candidate.device].map { DeviceCost(device: $0, candidate: candidate) }
      }
      usage = DeviceUsage(
        preferred: device, supported: costs.filter { $0.time != nil }.map(\.device), reason: node.reason,
        regret: node.regret.map(Duration.limited(seconds:)))
      transfers = node.transfers.map { Transfer(transfer: $0) }
      region = node.region.isEmpty ? nil : node.region
      runs = node.turns ?? node.iterations
    }
  }

  /// One of the graphs that a function runs in order. Most functions consist of one graph. Models with host operations
  /// in between, and models with data-dependent sizes, have several.
  public struct Graph: Hashable, Sendable {
    /// The graph's name; `main` for a function's only graph.
    public let name: String
    /// The predicted time of the graph in one warm prediction.
    public let predicted: Duration
    /// The shape of each value that enters the graph, from a sample run, if sizes depend on data. Nil if sizes are
    /// known in advance.
    public let sampledSizes: [String: [Int]]?
    /// The largest shapes of flexible inputs and of values with data-dependent sizes that use this plan, by name. Nil
    /// if no shape varies, or each size has a plan of its own.
    public let holdsUpTo: [String: [Int]]?

    init(_ plan: Plan) {
      let part = plan.parts.first
      name = part?.name ?? GraphPart.onlyName
      predicted = Duration.limited(seconds: plan.predicted)
      sampledSizes = part?.sampledSizes
      holdsUpTo = part.map(\.holdsUpTo) ?? plan.holdsUpTo
    }
  }

  /// The cost of a layer on one device.
  public struct DeviceCost: Hashable, Sendable {
    /// The device.
    public let device: ComputeDevice
    /// The warm time on the device; nil if the device cannot run the layer.
    public var time: Duration? { candidate.seconds.map(Duration.limited(seconds:)) }
    /// Whether the time was measured on this machine instead of estimated.
    public var isMeasured: Bool { candidate.isMeasured }
    /// The reason why the device cannot run the layer; nil if it can.
    public var unsupported: String? { candidate.unsupported }
    /// The time that a prediction would lose with the layer on this device and everything else placed optimally; nil
    /// if not known.
    public var regret: Duration? { candidate.regret.map(Duration.limited(seconds:)) }
    let candidate: PlanCandidate
  }

  /// A copy of a value between devices, or the start of a device by a branch or loop.
  public struct Transfer: Hashable, Sendable {
    /// The value's name; `loop_1#trip` or `branch_2#side` if a device is started.
    public var value: String { transfer.value }
    /// The identifier of the source device.
    public var from: String { transfer.from }
    /// The identifier of the destination device.
    public var to: String { transfer.to }
    /// The value's size in bytes.
    public var bytes: Int { transfer.bytes }
    /// The time of the copy including the wait for the device: latency + bytes/bandwidth of this pair of devices,
    /// times the expected number of copies in one prediction.
    public var time: Duration { Duration.limited(seconds: transfer.seconds) }
    /// Whether this is the start of a device by a branch or loop, without a copy.
    public var isStart: Bool { transfer.isSignal == true }
    let transfer: PlannedTransfer
  }
}
