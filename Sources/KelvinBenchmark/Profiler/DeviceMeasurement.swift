import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinProfiling
import KelvinRuntime

/// One device's turn in a profile: the whole graph on it as far as it can, and everything measured about that.
final class DeviceMeasurement {
  let device: any Device
  let placement: [String: String]
  let nodesHere: Set<String>
  let compile: Double
  let compileCached: Double
  let firstRun: Double
  let weights: WeightReport
  /// Segments on the device: each is entered and left once.
  let segments: Int
  private let session: Session
  private let clock: any BenchmarkClock

  private(set) var seconds: [Double] = []
  private(set) var nodeSeconds: [String: [Double]] = [:]
  private(set) var clocks: [String: NodeTiming.Clock] = [:]
  /// End-to-end minus the nodes' own seconds, round by round.
  private(set) var overheads: [Double] = []
  private var traces: [[TraceEvent]] = []
  var isDone = false

  /// Compiles and runs once.
  init(
    _ device: any Device, _ solution: PlanSolution, _ context: ModelContext, precision: Precision, threads: Int,
    inputs: [Tensor], clock: any BenchmarkClock
  ) throws {
    self.device = device
    self.clock = clock
    placement = solution.placement
    let id = device.info.id
    nodesHere = Set(solution.placement.filter { $0.value == id }.keys)
    var start = clock.now()
    var model = try context.compile(solution, precision: precision, threads: threads)
    compile = clock.now() - start
    if context.cache == nil {
      compileCached = compile
    } else {
      start = clock.now()
      model = try context.compile(solution, precision: precision, threads: threads)
      compileCached = clock.now() - start
    }
    weights = model.weightReport
    segments = model.schedule.segments.count { $0.device == id }
    start = clock.now()
    session = try model.makeSession(measuresNodes: true)
    _ = try session.run(inputs)
    firstRun = clock.now() - start
  }

  func warmUp() throws { try session.run() }

  /// One inference, recorded.
  func measure() throws {
    let elapsed = try clock.time { try session.run() }
    seconds.append(elapsed)
    var sum = 0.0
    for timing in session.nodeTimings {
      nodeSeconds[timing.node, default: []].append(timing.seconds)
      clocks[timing.node] = timing.clock
      sum += timing.seconds
    }
    overheads.append(max(0, elapsed - sum))
    traces.append(session.trace())
  }

  /// Whether the medians of the nodes that make up 99 % of the device's time are as certain as `bound`.
  func hasConverged(bound: Double) -> Bool {
    var medians: [(seconds: Double, uncertainty: Double)] = []
    for (node, samples) in nodeSeconds where nodesHere.contains(node) {
      guard let statistics = try? LatencyStatistics(samples) else { return false }
      medians.append((statistics.median, statistics.relativeUncertainty))
    }
    let total = medians.reduce(0) { $0 + $1.seconds }
    var covered = 0.0
    for entry in medians.sorted(by: { $0.seconds > $1.seconds }) {
      if covered >= 0.99 * total { break }
      if !(entry.uncertainty <= bound) { return false }
      covered += entry.seconds
    }
    return true
  }

  /// The inference whose end-to-end time is the median.
  var medianRun: (seconds: Double, trace: [TraceEvent]) {
    let order = seconds.indices.sorted { seconds[$0] < seconds[$1] }
    let index = order[(order.count - 1) / 2]
    return (seconds[index], traces[index])
  }

  /// Median seconds that entering and leaving the device once takes beyond its nodes and the copies by themselves.
  func boundarySeconds(copying: Double) -> Double {
    guard segments > 0, let median = try? LatencyStatistics(overheads).median else { return 0 }
    return max(0, median - copying) / Double(segments)
  }
}
