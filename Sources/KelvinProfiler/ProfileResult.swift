package import KelvinDevices
package import KelvinMeasurements
package import KelvinRuntime

/// The measurements of one model: the profile for planning, and the account for people.
package struct ProfileResult: Sendable {
  package struct DeviceRun: Sendable {
    package var device: DeviceInfo
    /// The kernel of each node, by the devices' own names: `winograd 4x4`.
    package var kernels: [String: String]
    /// The number of nodes on the device, and of nodes that another device had to run.
    package var nodes: Int
    package var nodesElsewhere: Int
    /// End-to-end seconds without node timers: the time of this device's plan, wherever it is quoted.
    package var latency: LatencyStatistics
    /// End-to-end seconds with node timers, which take time themselves.
    package var timedLatency: LatencyStatistics
    /// The number of these inferences without disturbance by other processes.
    package var undisturbed: Int
    /// The account of the inference with node timers whose end-to-end time is the median.
    package var account: Account
    package var trace: [TraceEvent]
    /// Seconds on an idle machine: compilation with empty caches, compilation with filled caches, and the first run.
    package var compile: Double
    package var compileCached: Double
    package var firstRun: Double
    /// The same while every processor is busy with other work; nil when not measured.
    package var busyCompile: Double?
    package var busyFirstRun: Double?
    package var power: DevicePower
    package var weights: WeightReport
    /// The names of nodes whose median is less certain than asked for, the costliest first.
    package var noisyNames: [String]
    package var noisyNodes: Int { noisyNames.count }
    /// The basis of estimates for the device's other nodes.
    package var estimates: EstimateBasis
  }

  package struct NodeRow: Sendable {
    package var name: String
    package var op: String
    package var origins: [(name: String, share: Double)]
    /// The cost of one execution, by device identifier.
    package var costs: [String: NodeCost]
    /// The reason for which a device cannot run the node, by device identifier.
    package var unsupported: [String: String]
    /// The node and role of each region around it, outermost first; empty at the top level.
    package var region: String
    /// The number of executions in one inference.
    package var iterations: Double
  }

  package struct Transfer: Sendable {
    /// The cost for planning: the copy and the hand-over cost beyond it.
    package var cost: TransferCost
    /// The fit of the copy alone.
    package var fit: TransferFit
    /// Whether both devices address the same memory, so that nothing is copied.
    package var isShared: Bool
  }

  /// A graph and, if its sizes depend on data, the sizes and values of the sample run, as in plans.
  package struct Part: Sendable {
    package var name: String
    package var sampledSizes: [String: [Int]]?
    package var sampledValues: [String: [Double]]?

    package init(name: String, sampledSizes: [String: [Int]]?, sampledValues: [String: [Double]]?) {
      self.name = name
      self.sampledSizes = sampledSizes
      self.sampledValues = sampledValues
    }
  }

  package var profile: MeasuredProfile
  package var model: String
  package var function: String
  /// The measured graph, for functions with several graphs or with sizes that depend on data.
  package var part: Part?
  package var precision: String
  package var threads: Int
  /// The relative uncertainty of a median that was asked for.
  package var bound: Double
  /// In the order of the machine's devices.
  package var devices: [DeviceRun]
  package var nodes: [NodeRow]
  package var transfers: [Transfer]
  package var checks: [PlanCheck]
  /// The errors of these predictions, and of those of plans that alternate between devices.
  package var accuracy: ModelAccuracy
  /// The seconds of handing a node to each device; included in the nodes' costs.
  package var dispatch: [String: Double]
  /// By device, the cost of a segment start by control flow; for the host, the cost of a step. Empty without control
  /// flow.
  package var starts: [String: NodeCost] {
    profile.nodes[CostSheet.controlKey(threads: threads)] ?? [:]
  }
  /// Remarks for the reader: devices left out or lost, contention, noise, an interruption.
  package var remarks: [String]
}
