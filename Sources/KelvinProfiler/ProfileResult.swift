package import KelvinDevices
package import KelvinMeasurements
package import KelvinRuntime

/// What was measured of one model: the profile that planning reads, and the account that people do.
package struct ProfileResult: Sendable {
  package struct DeviceRun: Sendable {
    package var device: DeviceInfo
    /// What computes each node, by the devices' own names: `winograd 4x4`.
    package var kernels: [String: String]
    /// Nodes that ran on the device, and those that another device had to run.
    package var nodes: Int
    package var nodesElsewhere: Int
    /// End to end, node measuring included.
    package var latency: LatencyStatistics
    /// Inferences among these in which nobody else took processor time.
    package var undisturbed: Int
    /// Of the run whose end-to-end time is the median.
    package var account: Account
    package var trace: [TraceEvent]
    /// Seconds on an idle machine, nothing found in a cache, and with the compiled cache as it is left.
    package var compile: Double
    package var compileCached: Double
    package var firstRun: Double
    /// The same with every processor busy with something else; nil where that was not measured.
    package var busyCompile: Double?
    package var busyFirstRun: Double?
    package var power: DevicePower
    package var weights: WeightReport
    /// Names of nodes whose median is less certain than asked for, the costliest first.
    package var noisyNames: [String]
    package var noisyNodes: Int { noisyNames.count }
    /// What estimates of the device's other nodes will rest on.
    package var estimates: EstimateBasis
  }

  package struct NodeRow: Sendable {
    package var name: String
    package var op: String
    package var origins: [(name: String, share: Double)]
    /// By device id.
    package var costs: [String: NodeCost]
    /// By device id, why it cannot run the node.
    package var unsupported: [String: String]
    /// The node and role of each region around it, outermost first; empty at the top.
    package var region: String
    /// How often an inference runs it; its costs are those of one time.
    package var trips: Double
  }

  package struct Transfer: Sendable {
    /// As planned with: the copy, and what handing a value over costs beyond it.
    package var cost: TransferCost
    /// The copy by itself.
    package var fit: TransferFit
    /// Both address the same memory; nothing is copied.
    package var isShared: Bool
  }

  /// A plan's prediction against the same plan run without node timers, in turns with the rounds it was predicted from.
  package struct Check: Sendable, Encodable {
    /// `cpu`, or `best plan`.
    package var label: String
    package var nodesByDevice: [String: Int]
    package var predicted: Double
    package var measured: Double
    package var interval: ConfidenceInterval
    package var samples: Int
    /// False where others took processor time in too many rounds to leave them out.
    package var isUndisturbed: Bool

    /// Of the measurement: 0.1 is ten per cent too much.
    package var error: Double { measured > 0 ? predicted / measured - 1 : 0 }
  }

  /// A graph and, where its sizes depend on data, those that the sample run found: as plans tell them.
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
  /// The graph that was measured, of a function that has several or whose sizes depend on data.
  package var part: Part?
  package var precision: String
  package var threads: Int
  /// Relative uncertainty of a median that was asked for.
  package var bound: Double
  /// In the order of the machine's devices.
  package var devices: [DeviceRun]
  package var nodes: [NodeRow]
  package var transfers: [Transfer]
  package var checks: [Check]
  /// How far these predictions, and those of plans that alternate between devices, were off.
  package var accuracy: ModelAccuracy
  /// By device, seconds that handing it a node costs; they are in the nodes' costs.
  package var dispatch: [String: Double]
  /// By device, what it costs that control flow starts a segment there, on the host that it goes a step; empty where the
  /// model has none.
  package var starts: [String: NodeCost] {
    profile.nodes[CostSheet.controlKey(threads: threads)] ?? [:]
  }
  /// What the reader should know: devices left out or lost, contention, noise, an interruption.
  package var remarks: [String]
}
