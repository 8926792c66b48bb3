import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkRunner {
  /// Measures the sustained load in slices of a few seconds; the configurations take turns.
  func runSustained(_ candidates: [BenchmarkCandidate], beside load: any BackgroundLoad) throws {
    let paced = workload.kind == .stream
    live.begin(workload.kind.rawValue, .sustained)
    if !paced { try findInFlight(candidates) }
    if paced { try prepareStreams(candidates) }
    let frames = paced ? max(1, Int(min(1e6, workload.duration * workload.framesPerSecond))) : Int.max
    // Slices hold a few inferences each; their number is limited to what a comparison benefits from.
    let slowest = candidates.compactMap { try? LatencyStatistics(Array($0.record.warm.joined())).median }.max() ?? 0
    let slices = min(
      20, max(PairedComparison.fewestPairs, Int(min(workload.duration / max(4 * slowest, 1e-6), 20))), frames)
    var seconds = workload.duration / Double(slices)
    // A slice spans whole frame intervals, so that its rate is the stream's.
    let arrivals = max(1, Int((seconds * workload.framesPerSecond).rounded()))
    if paced { seconds = Double(arrivals) / workload.framesPerSecond }
    var heat = HeatLog(ThermalMonitor(files: files, envelope: envelope, probe: ClockProbe(repeats: 2)), at: clock.now())
    var meter = EnergyMeter(
      counters: EnergyCounters(files: files), envelope: envelope, cores: machine.logicalCores, idle: idlePower,
      clock: clock,
      othersSeconds: { load.ownProcessorSeconds })
    try compareWork(candidates, beside: load)
    var inputs = subject.inputs[0]
    let read = subject.frames.map { frames in { (count: Int) in inputs = try frames.next(count) } }
    try runRounds(
      .sustained, planned: slices, candidates, undisturbed: workload.duration * Double(candidates.count)
    ) { candidate, round in
      if candidates.count > 1 { try candidate.infer() }
      let active = candidates.count(where: \.isAble)
      let whole = seconds * Double(slices * active)
      let done = candidates.reduce(0) { $0 + $1.record.sustainedSeconds }
      let offset = candidate.record.sustainedSeconds
      let began = clock.now()
      let arrivalsPerSecond = paced ? workload.framesPerSecond : nil
      let look = { [live] (now: Double, recent: FrameSlice) in
        let seen = candidate.heat == nil ? heat.sample(at: now) : nil
        guard let report = candidate.watchHeat(at: offset + now - began, frame: recent.frames.last, seen)
        else { return }
        live.note(
          candidate.configuration.label, latencies: recent.frames.suffix(512).map(\.latency),
          rate: recent.rate(arrivalsPerSecond: arrivalsPerSecond), dropped: recent.dropped,
          state: report.state.name)
        let left = max(0, whole - done - (now - began))
        live.advance(
          1 - left / whole, candidate.configuration.label, left: EstimatedSeconds(left), isRepeating: round >= slices)
      }
      var slice = FrameSlice()
      meter.start()
      defer {
        let energy = meter.stop(devices: candidate.devices)
        if !slice.frames.isEmpty || slice.dropped > 0 {
          journal.add(.slice(configuration: candidate.index, slice: slice, energy: energy))
        }
      }
      if paced {
        let first = candidate.record.slices.reduce(0) { $0 + $1.frames.count + $1.dropped + $1.skipped }
        try slice.runPaced(
          arrivals: arrivals, rate: workload.framesPerSecond, first: first,
          setting: { candidate.setting ?? GovernorSetting(queue: workload.queue) }, clock: clock, read: read,
          infer: {
            let seconds = try clock.time { () throws(RuntimeError) in try candidate.answerFrame(inputs) }
            candidate.idle(after: seconds, clock)
          }, pause: look)
      } else if let pipeline = candidate.pipelined {
        let run = PipelinedRun(pipeline, inputs, clock: clock, rest: candidate.rest, options.cancellation)
        defer { slice = run.slice(seconds) }
        try run.go(seconds: seconds) { look($0, $1) }
      }
    }
  }

  /// Finds the number of inferences in flight for each configuration: the workload's, or the smallest of the numbers
  /// tried whose rate is within 3 % of the highest.
  private func findInFlight(_ candidates: [BenchmarkCandidate]) throws {
    for candidate in candidates {
      try attempt(candidate) {
        let mixture = try candidate.compiledMixture()
        var pipeline = ConfigurationResult.Pipeline(inFlight: workload.inFlight, attempts: [])
        if workload.inFlight == 0 {
          let resources = Set(candidate.resources.values).count
          let counts = Array(1...min(max(2, resources + 1), 4))
          let latency = candidate.record.warm.last.flatMap { try? LatencyStatistics($0).median } ?? 0.01
          let seconds = min(max(0.25, 8 * latency), max(0.25, workload.duration / 8))
          var rates = counts.map { _ in [Double]() }
          for round in 0..<3 {
            for index in round.isMultiple(of: 2) ? Array(counts.indices) : counts.indices.reversed() {
              live.advance(0, "\(candidate.configuration.label), \(counts[index]) in flight")
              let sessions = try PipelinedSessions(mixture, inFlight: counts[index])
              let run = PipelinedRun(
                sessions, subject.inputs[0], clock: clock, rest: candidate.rest, options.cancellation)
              try run.go(seconds: seconds)
              let perFrame = run.slice(seconds).secondsPerFrame
              rates[index].append(perFrame > 0 ? 1 / perFrame : 0)
            }
          }
          pipeline.attempts = zip(counts, rates).map { .init(inFlight: $0, rate: $1.sorted()[$1.count / 2]) }
          let best = pipeline.attempts.map(\.rate).max() ?? 0
          pipeline.inFlight = pipeline.attempts.first { $0.rate >= 0.97 * best }?.inFlight ?? 1
        }
        pipeline.bottleneck = candidate.bottleneck
        if mixture.shares.count > 1 { pipeline.shares = mixture.shares }
        candidate.pipelined = try PipelinedSessions(mixture, inFlight: pipeline.inFlight)
        journal.add(.pipeline(configuration: candidate.index, pipeline: pipeline))
      }
    }
  }
}

/// A run at the highest rate with several inferences in flight.
final class PipelinedRun {
  private let sessions: PipelinedSessions
  private let inputs: [Tensor]
  private let clock: any MeasurementClock
  private let rest: Double
  private let cancellation: Cancellation?
  private let recorded = ConditionLock<[FrameSlice.Frame]>([])

  init(
    _ sessions: PipelinedSessions, _ inputs: [Tensor], clock: any MeasurementClock, rest: Double,
    _ cancellation: Cancellation?
  ) {
    self.sessions = sessions
    self.inputs = inputs
    self.clock = clock
    self.rest = rest
    self.cancellation = cancellation
  }

  /// The answers of the latest run, in seconds from its start. The array is copied here, because otherwise the session
  /// threads, which are timed, would copy the shared array when they append to it.
  var answers: [FrameSlice.Frame] { recorded.withLock { $0.map(\.self) } }

  func slice(_ seconds: Double) -> FrameSlice {
    FrameSlice(pipelined: answers, inFlight: sessions.inFlight, seconds: seconds)
  }

  /// - Parameter look: called repeatedly on the calling thread with the answers so far.
  func go(seconds: Double, look: (Double, FrameSlice) -> Void = { _, _ in }) throws(RuntimeError) {
    let (inputs, clock, rest, cancellation, recorded) = (inputs, clock, rest, cancellation, recorded)
    let begin = clock.now()
    recorded.withLock { $0 = [] }
    try sessions.run(
      watch: { look(clock.now(), slice(seconds)) },
      { (_, session) throws(RuntimeError) in
        let start = clock.now() - begin
        BenchmarkCandidate.write(inputs, to: session)
        try session.run(cancellation)
        let end = clock.now() - begin
        recorded.withLock { $0.append(.init(arrival: start, start: start, end: end)) }
        if rest > 0 { clock.sleep(until: clock.now() + rest * (end - start)) }
        return clock.now() - begin < seconds
      })
  }
}

extension BenchmarkCandidate {
  /// Records the trace of one further inference with each node measured, for a configuration that has run.
  func keepTrace(_ inputs: [Tensor]) {
    guard isAble, session != nil, record.hasRun, let events = try? trace(inputs) else { return }
    journal.add(.trace(configuration: index, events: events))
  }

  /// The plan's bottleneck, or the one that follows from its placement. By resource, the seconds of nodes and of the
  /// transfers from or to it are added.
  var bottleneck: Bottleneck? {
    if let known = explanation.solution.bottleneck { return known }
    let resources = resources
    var seconds: [String: Double] = [:]
    func add(_ device: String, _ cost: Double) {
      seconds[resources[device] ?? device, default: 0] += cost
    }
    let placement = explanation.solution.placement
    for node in explanation.nodes {
      let device = placement[node.node] ?? node.device
      add(device, node.candidates.first { $0.device == device }?.seconds ?? 0)
    }
    for transfer in explanation.solution.transfers {
      for device in Set([transfer.from, transfer.to]) { add(device, transfer.seconds) }
    }
    return seconds.max { ($0.value, $1.key) < ($1.value, $0.key) }
      .map { Bottleneck(resource: $0.key, seconds: $0.value) }
  }
}
