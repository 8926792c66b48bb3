/// The load of one frame of a pipelined stream on each resource and, if there is a power budget, on the budget. Loads
/// are in seconds and additive over nodes and copies.
///
/// - A node occupies its device's resource for its seconds.
/// - A copy occupies the resources of both its ends, once if they are the same: neither end is expected to compute
///   meanwhile.
/// - Energy counts as `joules / spareWatts`, the seconds in which the budget supplies it.
///
/// The highest rate is the reciprocal of the largest load. For weights `w` that sum to 1, `w · loads` is at most the
/// largest load, and is a serial sum with other costs: `weighted(by:)`.
struct Loads {
  let index: ProblemIndex
  let count: Int
  /// Zero when energy is not counted.
  private let secondsPerJoule: Double

  /// Creates the loads of resources.
  init(resourcesOf index: ProblemIndex) {
    self.index = index
    count = index.resourceNames.count
    secondsPerJoule = 0
  }

  /// Creates the loads of resources and power.
  ///
  /// - Throws: `missing` without a power budget, or when a device that may run a node has no joules for it.
  init(resourcesAndPowerOf index: ProblemIndex) throws(PlanningError) {
    guard let spare = index.spareWatts else {
      throw PlanningError(
        .missing, "goal 'sustained'", "no power budget is given",
        remedy: "give \"power\" with \"idleWatts\" and \"sustainableWatts\", or name an envelope")
    }
    for entry in index.seconds.indices where index.seconds[entry].isFinite && !index.joules[entry].isFinite {
      let node = index.nodeNames[entry / index.deviceCount]
      let device = index.deviceNames[entry % index.deviceCount]
      throw PlanningError(
        .missing, "node '\(node)'", "no joules are given for '\(device)', and goal 'sustained' needs them",
        remedy: "give \"joules\" for every device that may run it, or exclude '\(device)'", node: node)
    }
    self.index = index
    count = index.resourceNames.count + 1
    secondsPerJoule = 1 / spare
  }

  private init(_ index: ProblemIndex, count: Int, secondsPerJoule: Double) {
    self.index = index
    self.count = count
    self.secondsPerJoule = secondsPerJoule
  }

  /// Returns the same loads of another index of the same graph.
  func over(_ other: ProblemIndex) -> Loads { Loads(other, count: count, secondsPerJoule: secondsPerJoule) }

  var countsEnergy: Bool { secondsPerJoule > 0 }

  /// The name of the power budget among the resources.
  static let power = "power"
  /// Returns a resource's name, or `power`.
  func name(_ load: Int) -> String { load < index.resourceNames.count ? index.resourceNames[load] : Self.power }

  func add(_ node: Int, on device: Int, to loads: inout [Double], times factor: Double = 1) {
    let entry = node * index.deviceCount + device
    loads[index.resource[device]] += factor * index.seconds[entry]
    if countsEnergy { loads[count - 1] += factor * index.joules[entry] * secondsPerJoule }
  }

  func addCopy(of cargo: TransferPayload, from: Int, to: Int, to loads: inout [Double]) {
    let seconds = index.copySeconds(cargo, from: from, to: to)
    loads[index.resource[from]] += seconds
    if index.resource[to] != index.resource[from] { loads[index.resource[to]] += seconds }
    if countsEnergy {
      loads[count - 1] += seconds * index.copyWatts[from * index.deviceCount + to] * secondsPerJoule
    }
  }

  func sum(_ placement: [Int], _ evaluation: Evaluation) -> [Double] {
    var loads = Array(repeating: 0.0, count: count)
    for node in 0..<index.nodeCount { add(node, on: placement[node], to: &loads) }
    for copy in evaluation.copies {
      addCopy(of: index.cargo(copy.value), from: copy.from, to: copy.to, to: &loads)
    }
    for node in evaluation.streamed {
      let seconds = index.streamSeconds[node * index.deviceCount + placement[node]]
      for end in Set([placement[node], index.host].map { index.resource[$0] }) { loads[end] += seconds }
    }
    return loads
  }

  /// Returns the graph with the costs `w · loads`.
  func weighted(by weights: [Double]) -> ProblemIndex {
    var other = index
    let devices = index.deviceCount
    let power = countsEnergy ? weights[count - 1] * secondsPerJoule : 0
    for entry in index.seconds.indices where index.seconds[entry].isFinite {
      other.seconds[entry] = weights[index.resource[entry % devices]] * index.seconds[entry]
      if power > 0 { other.seconds[entry] += power * index.joules[entry] }
    }
    for pair in index.latency.indices where index.latency[pair].isFinite {
      let ends = (index.resource[pair / devices], index.resource[pair % devices])
      var factor = weights[ends.0] + (ends.0 == ends.1 ? 0 : weights[ends.1])
      if power > 0 { factor += power * index.copyWatts[pair] }
      other.latency[pair] = factor * index.latency[pair]
      other.secondsPerByte[pair] = factor * index.secondsPerByte[pair]
      for signal in index.signals.indices { other.signals[signal][pair] = factor * index.signals[signal][pair] }
    }
    return other
  }
}
