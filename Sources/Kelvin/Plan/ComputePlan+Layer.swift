import KelvinGraph
import KelvinPlanning

extension ComputePlan {
  /// Where an operation runs.
  public struct DeviceUsage: Hashable, Sendable {
    /// The device that runs it.
    public let preferred: ComputeDevice
    /// Every device of those asked for that could run it.
    public let supported: [ComputeDevice]
    /// Why the preferred device was preferred.
    public let reason: String
    /// Seconds that a prediction would lose with the operation on its best other device and everything else placed
    /// anew; nil where no other device may run it, or the number is not known.
    public let regret: Double?
  }

  /// What an operation costs.
  public struct Cost: Hashable, Sendable {
    /// The operation's share of the whole model's predicted cost, 0…1.
    public let weight: Double
    /// Seconds on its device.
    public let seconds: Double
    /// Whether the seconds were measured on this machine, or estimated.
    public let isMeasured: Bool
  }

  /// A layer as it runs: one node of the graph, which may stand for several fused operations.
  public struct Layer: Hashable, Sendable {
    /// Its own name, by which `ModelConfiguration.pins` pin it.
    public let name: String
    /// The graph that has it, by `Graph.name`.
    public let graphName: String
    /// What it does.
    public let operatorName: String
    /// The model's operations that it stands for.
    public let operations: [String]
    /// The layers whose values it reads, and the model's inputs by their names.
    public let inputs: [String]
    /// Where it runs, where it could, and why.
    public let usage: DeviceUsage
    /// What it costs on every device that was considered, or why a device cannot run it.
    public let costs: [DeviceCost]
    /// The copies that are made for it.
    public let transfers: [Transfer]
    /// The branches and loops that it lies in and which part of each, outermost first: `loop_1/body`,
    /// `branch_2/then`; nil at the top. A branch or loop is a layer itself, of that name.
    public let region: String?
    /// How often one prediction is expected to run it, for a loop to go round; its costs are those of all these times.
    public let runs: Double

    /// The device that runs it.
    public var device: ComputeDevice { usage.preferred }
    /// What it costs there.
    var cost: (seconds: Double, isMeasured: Bool)? {
      costs.first { $0.device == device }.flatMap { cost in cost.seconds.map { ($0, cost.isMeasured) } }
    }

    init?(_ node: Plan.Node, of graph: String, _ devices: [String: ComputeDevice]) {
      guard let device = devices[node.device] else { return nil }
      name = node.name
      graphName = graph
      operatorName = node.op
      operations = node.origins.map(\.name)
      inputs = node.inputs
      costs = node.candidates.compactMap { candidate in
        devices[candidate.device].map { DeviceCost(device: $0, candidate) }
      }
      usage = DeviceUsage(
        preferred: device, supported: costs.filter { $0.seconds != nil }.map(\.device), reason: node.reason,
        regret: node.regret)
      transfers = node.transfers.map(Transfer.init)
      region = node.region.isEmpty ? nil : node.region
      runs = node.turns ?? node.trips
    }
  }

  /// One of the graphs that a function runs in a row. Most functions are one graph; models with steps on the host
  /// between others, and models whose sizes depend on data, have several.
  public struct Graph: Hashable, Sendable {
    /// Its name; `main` for a function's only graph.
    public let name: String
    /// Seconds of one warm prediction's part, predicted.
    public let predicted: Double
    /// Where sizes depend on data: the shape of each value that comes to the graph, as a sample run found it. Nil where
    /// sizes are known beforehand.
    public let sampledSizes: [String: [Int]]?
    /// The largest shapes of flexible inputs, and of values whose sizes depend on data, for which this plan is taken, by
    /// name; nil where none can vary, or each size has a plan of its own.
    public let holdsUpTo: [String: [Int]]?

    init(_ plan: Plan) {
      let part = plan.parts.first
      name = part?.name ?? GraphPart.onlyName
      predicted = plan.predicted
      sampledSizes = part?.sampledSizes
      holdsUpTo = part.map(\.holdsUpTo) ?? plan.holdsUpTo
    }
  }

  /// What a layer costs on one device.
  public struct DeviceCost: Hashable, Sendable {
    /// The device.
    public let device: ComputeDevice
    /// Warm seconds there; nil where it cannot run the layer.
    public let seconds: Double?
    /// Whether the seconds were measured on this machine, or estimated.
    public let isMeasured: Bool
    /// Why the device cannot run the layer; nil where it can.
    public let unsupported: String?
    /// Seconds that a prediction would lose with the layer here and everything else placed anew; nil where not known.
    public let regret: Double?

    init(device: ComputeDevice, _ candidate: PlanCandidate) {
      self.device = device
      seconds = candidate.seconds
      isMeasured = candidate.source == .measured
      unsupported = candidate.unsupported
      regret = candidate.regret
    }
  }

  /// A copy of a value from one device to another, or the start of a device by a branch or loop.
  public struct Transfer: Hashable, Sendable {
    /// The value's name; `loop_1#trip` or `branch_2#side` where a device is started.
    public let value: String
    /// The identifier of the device that has it.
    public let from: String
    /// The identifier of the device that gets it.
    public let to: String
    /// Its size.
    public let bytes: Int
    /// How long the copy takes, waiting for the device included: latency + bytes/bandwidth of this pair of devices, as
    /// often as one prediction is expected to make it.
    public let seconds: Double
    /// Whether nothing is copied: a branch or loop starts the device.
    public let isStart: Bool

    init(_ transfer: PlannedTransfer) {
      value = transfer.value
      from = transfer.from
      to = transfer.to
      bytes = transfer.bytes
      seconds = transfer.seconds
      isStart = transfer.isSignal == true
    }
  }
}
