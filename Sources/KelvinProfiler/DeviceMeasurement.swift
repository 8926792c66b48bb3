import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// The measurements of one device in a profile. The device runs every node of the graph that it supports.
final class DeviceMeasurement: Disturbable {
  /// A timed inference and, close to it, one without node timers.
  struct Pair {
    var plain: Double
    var timed: Double
    /// The trace of the timed inference.
    var trace: [TraceEvent]
    var record: SessionRecord
    /// Whether no other process took processor time meanwhile, as far as known.
    var isUndisturbed = true
  }

  let device: any Device
  let solution: PlanSolution
  let nodesHere: Set<String>
  /// The number of nodes that another device has to run.
  let nodesElsewhere: Int
  private let hasControl: Bool
  /// Seconds with empty caches.
  private(set) var compile = 0.0
  /// Seconds with the compiled cache of an earlier run.
  private(set) var compileCached = 0.0
  /// Seconds of the first run after a compilation.
  private(set) var firstRun = 0.0
  /// Seconds of one inference before the measurements, which tells what they will cost.
  private(set) var inference = 0.0
  /// By node, the seconds of its compilation and of its first run.
  private(set) var compileSeconds: [String: Double] = [:]
  private(set) var coldSeconds: [String: Double] = [:]
  /// Seconds of compilation and of the first run while every processor is busy with other work; nil until measured.
  var busyCompile: Double?
  var busyFirstRun: Double?
  let weights: WeightReport
  /// The kernel of each node, by the devices' own names.
  let kernels: [String: String]
  let session: Session
  private let timedSession: Session
  /// Written again before every run: inputs decide control flow, and a run may reuse their memory.
  let inputs: [Tensor]
  private let clock: any MeasurementClock

  private(set) var pairs: [Pair] = []
  private(set) var clocks: [String: NodeTiming.Clock] = [:]
  var meter: PowerMeter
  var isDone = false
  /// The reason for which the device failed; nil while it takes part.
  var failure: String?

  /// Inferences shorter than this many seconds are preceded by an uncounted one of the same session, because caches
  /// hold other data.
  private static let short = 0.05

  /// Node name to device id.
  var placement: [String: String] { solution.placement }

  /// Compiles with empty caches and runs once, then compiles again for the measurements.
  init(
    _ device: any Device, _ solution: PlanSolution, _ context: ModelContext, precision: Precision, threads: Int,
    inputs: [Tensor], clock: any MeasurementClock, meter: PowerMeter
  ) throws {
    self.device = device
    self.clock = clock
    self.meter = meter
    self.solution = solution
    self.inputs = inputs
    let id = device.info.id
    let flat = FlatGraph(context.graph)
    nodesHere = Set(flat.graph.nodes.map(\.name).filter { solution.placement[$0] == id })
    nodesElsewhere = flat.graph.nodes.count - nodesHere.count
    hasControl = !flat.controls.isEmpty
    let cold = try ColdStart(
      solution, context, precision: precision, threads: threads, inputs: inputs, clock: clock)
    (compile, firstRun) = (cold.compile, cold.firstRun)
    (compileSeconds, coldSeconds) = (cold.compileSeconds, cold.nodeSeconds)
    var start = clock.now()
    var model = try context.compile(solution, precision: precision, threads: threads, overlaps: false)
    if context.cache != nil {
      start = clock.now()
      model = try context.compile(solution, precision: precision, threads: threads, overlaps: false)
    }
    compileCached = clock.now() - start
    weights = model.weightReport
    kernels = model.kernels
    session = try model.makeSession()
    timedSession = try model.makeSession(measuresNodes: true)
    _ = try session.run(inputs)
    start = clock.now()
    _ = try timedSession.run(inputs)
    inference = clock.now() - start
  }

  /// The seconds that a pair of inferences is expected to take.
  var pairSeconds: Double { 2 * inference }
  /// The seconds of the pairs so far.
  var spent: Double { pairs.reduce(0) { $0 + $1.plain + $1.timed } }

  func warmUp(_ cancellation: Cancellation?) throws {
    try run(session, cancellation)
    try run(timedSession, cancellation)
  }

  /// - Returns: the seconds of the run, without writing the inputs.
  @discardableResult func run(_ session: Session, _ cancellation: Cancellation?) throws(RuntimeError) -> Double {
    try session.write(inputs)
    return try clock.time { () throws(RuntimeError) in try session.run(cancellation) }
  }

  /// Measures the device's power, for devices whose counters need a longer stretch of work.
  func measurePower(_ cancellation: Cancellation?) throws {
    try meter.stretch { () throws(RuntimeError) in try run(session, cancellation) }
  }

  /// Measures one inference without timers and one with timers. Their order alternates from pair to pair.
  func measure(_ cancellation: Cancellation?) throws {
    let (plain, timed) = try meter.turn { () throws(RuntimeError) in
      let isShort = pairs.last.map { $0.plain < Self.short } ?? false
      func warm(_ session: Session) throws(RuntimeError) -> Double {
        if isShort { try run(session, cancellation) }
        return try run(session, cancellation)
      }
      let plainFirst = pairs.count.isMultiple(of: 2)
      var plain = 0.0
      if plainFirst { plain = try warm(session) }
      let timed = try warm(timedSession)
      if !plainFirst { plain = try warm(session) }
      return (plain, timed)
    }
    guard var record = timedSession.record else { preconditionFailure("a session that measures has no record") }
    for (node, time) in record.nodes { clocks[node] = time.clock }
    let trace = timedSession.trace()
    record.forgetSteps()
    pairs.append(Pair(plain: plain, timed: timed, trace: trace, record: record))
  }

  var sampleCount: Int { pairs.count }

  func markDisturbed(from index: Int) {
    for index in index..<pairs.count { pairs[index].isUndisturbed = false }
  }

  /// Returns the pairs that count: the undisturbed ones if there are enough. Otherwise, the fastest eighth of all, but
  /// at least `enough`. On a busy machine most runs are delayed in a different layer, which shows in the whole but in
  /// no layer's median.
  func counted(atLeast enough: Int) -> (indices: [Int], areUndisturbed: Bool) {
    let quiet = pairs.indices.filter { pairs[$0].isUndisturbed }
    if quiet.count >= enough || quiet.count == pairs.count { return (quiet, true) }
    let order = pairs.indices.sorted { pairs[$0].plain + pairs[$0].timed < pairs[$1].plain + pairs[$1].timed }
    return (order.prefix(max(enough, order.count / 8)).sorted(), false)
  }

  /// Returns a node's samples in the given pairs: for each pair that ran the node, the mean over its iterations.
  private func samples(of node: String, in indices: [Int]) -> [Double] {
    indices.compactMap { pairs[$0].record.nodes[node]?.secondsEach }
  }

  /// Returns the samples of this device's nodes and of the whole, from the given pairs.
  func nodeSamples(in indices: [Int]) -> NodeSamples {
    NodeSamples(indices.map { (index: $0, pair: pairs[$0]) }, nodesHere, timer: timerSeconds(in: indices))
  }

  /// Returns the seconds that a timer adds to each node, when timers slow the whole down by more than `slowTimers`;
  /// else zero. A driver may end a batch of work at each timestamp.
  ///
  /// Only every second pair is used, so that predictions can be tested with the others. Zero on a host that executes
  /// control flow: there, most of the excess is the recording of steps between the nodes.
  func timerSeconds(in indices: [Int]) -> Double {
    if hasControl, device.info.isHost { return 0 }
    let told = indices.filter { $0.isMultiple(of: 2) }
    guard let plain = try? LatencyStatistics(told.map { pairs[$0].plain }).median,
      let excess = Self.median(told.map { pairs[$0].timed - pairs[$0].plain }), excess > Self.slowTimers * plain
    else { return 0 }
    let timed = told.map {
      pairs[$0].record.nodes.filter { nodesHere.contains($0.key) }.reduce(0) { $0 + $1.value.runs }
    }
    return excess / Double(max(1, timed.max() ?? 1))
  }

  private static let slowTimers = 0.05

  private static func median(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.sorted()[(values.count - 1) / 2]
  }

  /// Whether the medians of the nodes that make up 99 % of the device's time have at most the relative uncertainty
  /// `bound`.
  func hasConverged(bound: Double, atLeast enough: Int) -> Bool {
    let (indices, _) = counted(atLeast: enough)
    var medians: [(seconds: Double, uncertainty: Double)] = []
    for node in nodesHere {
      guard let statistics = try? LatencyStatistics(samples(of: node, in: indices)) else { continue }
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

  /// Returns the end-to-end seconds of the inferences without node timers, from the pairs that count, and whether these
  /// are undisturbed; nil without pairs. Everything that quotes the time of this device quotes these.
  func latency(atLeast enough: Int) -> (statistics: LatencyStatistics, isUndisturbed: Bool)? {
    let (indices, isUndisturbed) = counted(atLeast: enough)
    return (try? LatencyStatistics(indices.map { pairs[$0].plain })).map { ($0, isUndisturbed) }
  }

  /// Returns the timed inference whose end-to-end time is the median of the given pairs.
  func medianRun(in indices: [Int]) -> (seconds: Double, trace: [TraceEvent])? {
    let order = indices.sorted { pairs[$0].timed < pairs[$1].timed }
    guard !order.isEmpty else { return nil }
    let pair = pairs[order[(order.count - 1) / 2]]
    return (pair.timed, pair.trace)
  }
}
