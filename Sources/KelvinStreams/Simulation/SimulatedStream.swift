import Glibc
import KelvinBasics
import KelvinMeasurements
import KelvinReport
import KelvinThermal

/// The state of one simulation: the machine's heat, the frame in service, and the windows so far.
struct SimulatedStream {
  private struct Frame {
    var arrival: Double
    var start: Double
    /// The remaining seconds at full clock.
    var remaining: Double
    var plan: Int
  }

  private let simulation: StreamSimulation
  private var governor: Governor?
  private var model: ThermalModel
  private var filter = ThermalStateFilter()
  private var random: SeededGenerator
  private var spareNormal: Double?

  private var time = 0.0
  private var clock = 1.0
  private var frame: Frame?
  /// Without arrivals: the time at which the next frame may begin, so that the share of time at work is the governor's
  /// rate.
  private var readyAt = 0.0
  /// Nil without arrivals, for one frame after the other.
  private var arrivals: PacedArrivals?
  private var queue: FrameQueue<Void>

  private var windows: [StreamRun.Window] = []
  private var latencies: [Double] = []
  private var window: StreamRun.Window
  private let windowLength: Double
  private var clockSeconds = 0.0
  private var windowJoules = 0.0

  private var actions: [GovernorAction] = []
  private var reports: [ThermalReport] = []
  private var points: [ReportSeries.Point] = []
  private var fitTimes: [Double] = []
  private var fitLatencies: [Double] = []
  private let stride: Int
  private var served = 0
  private var joules = 0.0
  private var throttledAt: Double?

  init(_ simulation: StreamSimulation, setting: GovernorSetting, governor: Governor?) {
    self.simulation = simulation
    queue = FrameQueue(setting: setting)
    arrivals = simulation.stream.framesPerSecond.map { PacedArrivals(rate: $0) }
    self.governor = governor
    model = simulation.envelope.model()
    random = SeededGenerator(seed: simulation.seed)
    let interval = simulation.physics.interval
    let duration = simulation.stream.duration
    windowLength = max(1, (max(10, duration / 360) / interval).rounded()) * interval
    window = Self.emptyWindow(at: 0)
    let fastest = simulation.plans.map { 1 / $0.secondsPerFrame }.max() ?? 1
    let frames = min(simulation.stream.framesPerSecond ?? .infinity, fastest) * duration
    stride = max(1, Int(frames / 8000))
  }

  mutating func runToEnd() {
    let end = simulation.stream.duration
    let interval = simulation.physics.interval
    var step = 0
    while time < end {
      step += 1
      let tickEnd = min(Double(step) * interval, end)
      setClock(seconds: tickEnd - time)
      runInterval(until: tickEnd)
      if tickEnd - window.start >= windowLength - 1e-9 || tickEnd >= end { closeWindow(at: tickEnd) }
    }
  }

  private mutating func setClock(seconds: Double) {
    let (fast, slow) = (model.fast, model.slow)
    let kept = (exp(-seconds / fast.tau), exp(-seconds / slow.tau))
    let carried = fast.weight * kept.0 * model.fastRise + slow.weight * kept.1 * model.slowRise
    let gained = fast.weight * (1 - kept.0) + slow.weight * (1 - kept.1)
    let budget = (1 - carried) / gained * simulation.envelope.sustainableWatts
    clock = simulation.clock(setting, within: budget)
    if clock < 1, throttledAt == nil { throttledAt = time }
  }

  private mutating func runInterval(until end: Double) {
    let start = time
    var energy = simulation.idleAndCoLoadWatts(clock: clock) * (end - start)
    let speed = clock * (1 - simulation.stream.coLoad)
    while time < end {
      guard var current = frame ?? takeFrame(until: end) else { break }
      let finish = time + current.remaining / speed
      let stop = min(finish, end)
      energy += (stop - time) * simulation.busyWatts(simulation.plans[current.plan], clock: clock)
      if finish <= end {
        answer(current, at: finish)
        frame = nil
      } else {
        current.remaining -= (end - time) * speed
        frame = current
      }
      time = stop
    }
    time = end
    let seconds = end - start
    let watts = energy / seconds
    joules += energy
    windowJoules += energy
    clockSeconds += clock * seconds
    let load = simulation.envelope.load(watts: watts)
    model.advance(by: seconds, load: load)
    report(watts: watts, load: load)
  }

  private mutating func report(watts: Double, load: Double) {
    let state = filter.update(at: time, headroom: model.headroom, clockRatio: clock)
    let remaining = model.timeToLimit(load: load)
    let report = ThermalReport(
      at: time, state: state, headroom: model.headroom, source: .model,
      sourceDescription: "simulated: the envelope \"\(simulation.envelope.name)\" in virtual time", watts: watts,
      clockRatio: clock, timeToLimit: remaining.isFinite ? remaining : nil,
      outlook: ThermalOutlook(
        model: model, idleWatts: simulation.idleAndCoLoadWatts(clock: 1),
        sustainableWatts: simulation.envelope.sustainableWatts, load: load))
    reports.append(report)
    window.state = max(window.state, state)
    guard let action = governor?.update(report) else { return }
    actions.append(action)
    let before = queue.tally.dropped
    queue.setting = action.setting
    window.dropped += queue.tally.dropped - before
  }

  private var setting: GovernorSetting { queue.setting }

  /// Returns the next frame to begin, after advancing `time` to its beginning; nil if there is none before `end`.
  private mutating func takeFrame(until end: Double) -> Frame? {
    guard arrivals != nil else {
      guard readyAt < end else { return nil }
      time = max(time, readyAt)
      return begin(arrival: time)
    }
    admit()
    while queue.isEmpty {
      guard let due = arrivals?.due, due < end else { return nil }
      time = max(time, due)
      admit()
    }
    return queue.take(at: time).map { begin(arrival: $0.arrival) }
  }

  private mutating func admit() {
    let before = queue.tally
    arrivals?.admit(until: time, to: &queue)
    window.skipped += queue.tally.skipped - before.skipped
    window.dropped += queue.tally.dropped - before.dropped
  }

  private mutating func begin(arrival: Double) -> Frame {
    let deviation = simulation.physics.noise
    let factor = deviation > 0 ? exp(deviation * normal() - deviation * deviation / 2) : 1
    return Frame(
      arrival: arrival, start: time, remaining: simulation.plans[setting.plan].secondsPerFrame * factor,
      plan: setting.plan)
  }

  private mutating func answer(_ frame: Frame, at end: Double) {
    latencies.append(end - frame.arrival)
    readyAt = end + (end - frame.start) * (1 / setting.rate - 1)
    if served.isMultiple(of: stride) {
      points.append((end, end - frame.arrival))
      fitTimes.append(frame.start)
      fitLatencies.append(end - frame.start)
    }
    served += 1
  }

  private mutating func closeWindow(at end: Double) {
    latencies.sort()
    window.end = end
    window.served = latencies.count
    if !latencies.isEmpty {
      window.p50 = LatencyStatistics.percentile(perMille: 500, ofSorted: latencies)
      window.p90 = LatencyStatistics.percentile(perMille: 900, ofSorted: latencies)
    }
    window.headroom = model.headroom
    window.clock = clockSeconds / (end - window.start)
    window.watts = windowJoules / (end - window.start)
    window.plan = setting.plan
    windows.append(window)
    latencies.removeAll(keepingCapacity: true)
    (clockSeconds, windowJoules) = (0, 0)
    window = Self.emptyWindow(at: end)
    window.state = filter.state
  }

  private static func emptyWindow(at start: Double) -> StreamRun.Window {
    StreamRun.Window(
      start: start, end: start, served: 0, p50: nil, p90: nil, dropped: 0, skipped: 0, headroom: 0, state: .nominal,
      clock: 1, watts: 0, plan: 0)
  }

  /// Returns a standard normal number by the polar method of Marsaglia and Bray, "A convenient method for generating
  /// normal variables", SIAM Review 6 (1964).
  private mutating func normal() -> Double {
    if let spare = spareNormal {
      spareNormal = nil
      return spare
    }
    while true {
      let u = 2 * random.unit() - 1
      let v = 2 * random.unit() - 1
      let square = u * u + v * v
      guard square > 0, square < 1 else { continue }
      let factor = sqrt(-2 * log(square) / square)
      spareNormal = v * factor
      return u * factor
    }
  }

  func result(label: String) -> StreamRun {
    StreamRun(
      label: label, windows: windows, actions: actions, reports: reports, points: points,
      fit: try? DecayFit(times: fitTimes, latencies: fitLatencies), served: served,
      dropped: windows.reduce(0) { $0 + $1.dropped }, skipped: windows.reduce(0) { $0 + $1.skipped }, joules: joules,
      throttledAt: throttledAt)
  }
}
