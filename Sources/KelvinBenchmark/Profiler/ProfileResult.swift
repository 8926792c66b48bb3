package import KelvinDevices
package import KelvinProfiling
package import KelvinRuntime

/// What was measured of one model: the profile that planning reads, and the account that people do.
package struct ProfileResult: Sendable {
  package struct DeviceRun: Sendable {
    package var device: DeviceInfo
    /// Nodes that ran on the device, and those that another device had to run.
    package var nodes: Int
    package var nodesElsewhere: Int
    /// End to end, node measuring included.
    package var latency: LatencyStatistics
    /// Of the run whose end-to-end time is the median.
    package var account: Account
    package var trace: [TraceEvent]
    /// Seconds, nothing found in a cache, and with the compiled cache as it is left.
    package var compile: Double
    package var compileCached: Double
    package var firstRun: Double
    package var weights: WeightReport
    /// Nodes whose median is less certain than asked for.
    package var noisyNodes: Int
  }

  package struct NodeRow: Sendable {
    package var name: String
    package var op: String
    package var origins: [(name: String, share: Double)]
    /// By device id.
    package var costs: [String: NodeCost]
    /// By device id, why it cannot run the node.
    package var unsupported: [String: String]
  }

  package struct Transfer: Sendable {
    /// As planned with: the copy, and half of what entering and leaving the device costs.
    package var cost: TransferCost
    /// The copy by itself.
    package var fit: TransferFit
    /// Both address the same memory; nothing is copied.
    package var isShared: Bool
  }

  package var profile: MeasuredProfile
  package var model: String
  package var function: String
  package var precision: String
  package var threads: Int
  /// In the order of the machine's devices.
  package var devices: [DeviceRun]
  package var nodes: [NodeRow]
  package var transfers: [Transfer]
  /// What the reader should know: devices left out, contention, noise.
  package var remarks: [String]
}
