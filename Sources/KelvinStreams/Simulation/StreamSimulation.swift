import Glibc
package import KelvinThermal

/// Simulates a stream of frames on a machine with a given thermal envelope, in virtual time.
///
/// The machine is the envelope's two-pole model. In each control interval Δ, its clock f (1 is full) is set to the
/// highest value at which the requested mean power does not raise headroom above 1 by the interval's end,
///
///     P(f) ≤ P_sus (1 − Σ wᵢ aᵢ hᵢ) / Σ wᵢ (1 − aᵢ),   aᵢ = e^(−Δ/τᵢ),
///
/// but not below `lowestClock`. So nothing is throttled before the limit, headroom then stays at 1, and mean power
/// falls to P_sus as the slow path fills. Time per frame is T/f. Dynamic power is proportional to f^g, so a frame takes
/// E f^(g−1) joules. With r arrivals per second and a co-load of share c,
///
///     P(f) = P_idle + c (P_full − P_idle) f^g + (1 − c) (E/T) f^g min(1, r T / ((1 − c) f)).
///
/// A co-load leaves 1 − c of the machine to the stream. Service times have log-normal noise of mean 1 from the seed;
/// the same values give the same run.
package struct StreamSimulation: Sendable, Hashable {
  package struct Stream: Sendable, Hashable, Codable {
    /// Arrivals per second; nil for one frame after the other.
    package var framesPerSecond: Double?
    /// The number of frames that may wait; one more arrival drops the oldest.
    package var queue: Int
    /// Virtual seconds.
    package var duration: Double
    /// The share of the machine that other work keeps busy, 0...0.95.
    package var coLoad: Double

    package init(framesPerSecond: Double?, queue: Int = 1, duration: Double = 1800, coLoad: Double = 0) {
      self.framesPerSecond = framesPerSecond
      self.queue = queue
      self.duration = duration
      self.coLoad = coLoad
    }
  }

  package struct Physics: Sendable, Hashable, Codable {
    /// g: the exponent of dynamic power over clock; voltage scaling gives 2 to 3.
    package var clockExponent: Double
    /// The clock below which the hardware does not go.
    package var lowestClock: Double
    /// The standard deviation of a service time's logarithm.
    package var noise: Double
    /// Δ in seconds.
    package var interval: Double

    package init(
      clockExponent: Double = 2.5, lowestClock: Double = 0.2, noise: Double = 0.04, interval: Double = 1
    ) {
      self.clockExponent = clockExponent
      self.lowestClock = lowestClock
      self.noise = noise
      self.interval = interval
    }
  }

  package let envelope: ThermalEnvelope
  package let plans: [StreamPlan]
  package let stream: Stream
  package let physics: Physics
  package let seed: UInt64

  /// The most frames of one run, which limits its time and memory.
  package static let mostFrames = 20_000_000.0

  /// - Parameter plans: the preferred one first; for a governor, in decreasing order of energy.
  /// - Throws: `StreamError` for values that are out of range, or a stream of more than `mostFrames`.
  package init(
    envelope: ThermalEnvelope, plans: [StreamPlan], stream: Stream, seed: UInt64 = 0, physics: Physics = .init()
  ) throws(StreamError) {
    func require(_ holds: Bool, _ reason: String) throws(StreamError) {
      guard holds else { throw StreamError("simulation: \(reason)") }
    }
    try require(!plans.isEmpty, "expected at least one plan")
    for plan in plans { try plan.validate() }
    let rate = stream.framesPerSecond
    try require(
      rate.map { $0 > 0 && $0 <= 10_000 } ?? true, "expected above 0, at most 10000 frames/s, got \(rate ?? 0)")
    try require((1...10_000).contains(stream.queue), "expected 1 to 10000 frames that may wait, got \(stream.queue)")
    try require(
      stream.duration >= 1 && stream.duration <= 604_800, "expected 1 s to a week, got \(stream.duration) s")
    try require((0...0.95).contains(stream.coLoad), "expected a co-load of 0 to 0.95, got \(stream.coLoad)")
    try require(
      (1...4).contains(physics.clockExponent), "expected a clock exponent of 1 to 4, got \(physics.clockExponent)")
    try require(
      (0.01...1).contains(physics.lowestClock), "expected a lowest clock of 0.01 to 1, got \(physics.lowestClock)")
    try require((0...0.5).contains(physics.noise), "expected noise of 0 to 0.5, got \(physics.noise)")
    try require((0.01...60).contains(physics.interval), "expected an interval of 0.01 to 60 s, got \(physics.interval)")
    try require(
      stream.duration / physics.interval <= 1e6,
      "expected at most 1e6 control intervals, got \(stream.duration / physics.interval)")
    let fastest = plans.map { 1 / $0.secondsPerFrame }.max() ?? 0
    let frames = (rate ?? fastest) * stream.duration
    try require(frames <= Self.mostFrames, "expected at most \(Self.mostFrames) frames, got about \(frames)")
    self.envelope = envelope
    self.plans = plans
    self.stream = stream
    self.physics = physics
    self.seed = seed
  }

  /// Runs one plan from beginning to end without a governor.
  package func run(plan: Int) -> StreamRun {
    var machine = SimulatedStream(self, setting: .init(plan: plan, rate: 1, queue: stream.queue), governor: nil)
    machine.runToEnd()
    return machine.result(label: plans[plan].label)
  }

  /// Runs all plans under a governor, which begins with the first.
  ///
  /// - Throws: `StreamError` for options that are out of range.
  package func run(governed options: Governor.Options = .init()) throws(StreamError) -> StreamRun {
    let costs = plans.map { plan in
      var shared = plan
      shared.secondsPerFrame /= 1 - stream.coLoad
      return shared.cost(framesPerSecond: stream.framesPerSecond)
    }
    let governor = try Governor(plans: plans.map(\.label), costs: costs, queue: stream.queue, options: options)
    var machine = SimulatedStream(self, setting: governor.setting, governor: governor)
    machine.runToEnd()
    return machine.result(label: "governed")
  }

  /// Returns the mean power that a plan requests at clock `clock`, in watts.
  package func meanWatts(_ setting: GovernorSetting, clock: Double) -> Double {
    let plan = plans[setting.plan]
    let share = 1 - stream.coLoad
    let busy =
      stream.framesPerSecond.map { min(1, $0 * setting.rate * plan.secondsPerFrame / (share * clock)) } ?? setting.rate
    return idleAndCoLoadWatts(clock: clock) + busy * busyWatts(plan, clock: clock)
  }

  /// Returns the power without a frame in service.
  func idleAndCoLoadWatts(clock: Double) -> Double {
    envelope.idleWatts + stream.coLoad * (envelope.fullLoadWatts - envelope.idleWatts) * scale(clock)
  }

  /// Returns the additional power of a frame in service.
  func busyWatts(_ plan: StreamPlan, clock: Double) -> Double {
    (1 - stream.coLoad) * plan.joulesPerFrame / plan.secondsPerFrame * scale(clock)
  }

  /// Returns the highest clock whose mean power is at most `watts`, but not below the lowest.
  func clock(_ setting: GovernorSetting, within watts: Double) -> Double {
    if meanWatts(setting, clock: 1) <= watts { return 1 }
    if meanWatts(setting, clock: physics.lowestClock) >= watts { return physics.lowestClock }
    var (low, high) = (physics.lowestClock, 1.0)
    for _ in 0..<48 {
      let middle = (low + high) / 2
      if meanWatts(setting, clock: middle) <= watts { low = middle } else { high = middle }
    }
    return low
  }

  private func scale(_ clock: Double) -> Double { clock == 1 ? 1 : pow(clock, physics.clockExponent) }
}
