import KelvinBasics
package import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements
package import KelvinRuntime
package import KelvinThermal

/// The ways to answer a stream, compiled and timed in turns: what a ladder is made of.
package struct StreamTrial {
  /// Measures the joules of some work; nil where nothing does.
  package typealias Metering = (_ devices: [DeviceInfo], _ work: () throws -> Void) throws -> Metered?

  /// Joules of a stretch of work and who measured them, in words.
  package struct Metered: Sendable, Hashable {
    package var joules: Double
    package var source: String

    package init(joules: Double, source: String) {
      self.joules = joules
      self.source = source
    }
  }

  /// One way, ready to run.
  package struct Entry {
    package var variant: StreamVariant
    package var model: CompiledModel
    /// With what a frame takes here, in seconds and joules.
    package var plan: StreamPlan
  }

  /// The preferred one first. A way that this machine cannot run is left out.
  package private(set) var entries: [Entry]
  /// Whether something measured the joules of every way; else all are estimated, since a ladder compares them.
  package let isEnergyMeasured: Bool
  /// Why ways were left out, in words.
  package private(set) var remarks: [String] = []

  private static let rounds = 5
  /// Frames of each way in a round.
  private static let frames = 4
  /// The longest wait between two frames: longer ones change no more, and cost time.
  private static let longestPeriod = 0.1

  /// - Parameters:
  ///   - variants: the preferred one first.
  ///   - framesPerSecond: arrivals, between which a frame is waited for as the stream will: threads that have gone to
  ///     sleep take longer than those that are kept busy. Nil for one frame after the other.
  ///   - inputs: of the graph, as all ways are timed with.
  ///   - envelope: by which joules are estimated where `meter` does not measure them.
  ///   - compile: how a way is compiled.
  /// - Throws: `RuntimeError` where the preferred way cannot run, or the user gave up.
  package init(
    _ variants: [StreamVariant], in context: ModelContext, inputs: [Tensor], framesPerSecond: Double? = nil, cores: Int,
    on envelope: ThermalEnvelope,
    clock: any MeasurementClock, cancellation: Cancellation? = nil,
    meter: Metering = { _, work in
      try work()
      return nil
    }, compile: (StreamVariant) throws -> CompiledModel
  ) throws {
    let period = framesPerSecond.map { min(1 / $0, Self.longestPeriod) } ?? 0
    let host = context.inventory.host.info.id
    var runs: [Run] = []
    for variant in variants {
      do {
        let run = try Run(variant, try compile(variant), inputs, cancellation)
        if let first = runs.first, variant.change == .precision { run.compare(with: first) }
        runs.append(run)
      } catch {
        if runs.isEmpty || cancellation?.isCancelled == true { throw error }
        remarks.append("the way '\(variant.label)' was left out: \(error)")
      }
    }
    for round in 0..<Self.rounds {
      for run in round.isMultiple(of: 2) ? runs : runs.reversed() {
        try run.warmUp(cancellation)
        let devices = context.inventory.devices(named: run.variant.shares.keys.sorted()).map(\.info)
        let energy = try meter(devices) { try run.work(Self.frames, period, clock, cancellation) }
        run.add(energy)
      }
    }
    let isEnergyMeasured = runs.allSatisfy { $0.measuredJoules != nil }
    entries = runs.map { run in
      Entry(
        variant: run.variant, model: run.model,
        plan: run.plan(isEnergyMeasured: isEnergyMeasured, host: host, cores: cores, on: envelope))
    }
    self.isEnergyMeasured = isEnergyMeasured
  }
}

/// One way while it is timed.
private final class Run {
  let variant: StreamVariant
  let model: CompiledModel
  private let session: Session
  private let inputs: [Tensor]
  private let outputs: [Tensor]
  private var remark = ""
  private var seconds: [Double] = []
  private var burst = 0
  private var joules: [Double]? = []
  private var source = ""

  init(_ variant: StreamVariant, _ model: CompiledModel, _ inputs: [Tensor], _ cancellation: Cancellation?) throws {
    self.variant = variant
    self.model = model
    session = try model.makeSession()
    self.inputs = inputs
    outputs = try session.run(inputs, cancellation)
  }

  /// How far its answers are from the preferred way's.
  func compare(with preferred: Run) {
    var largest = 0.0
    for (mine, theirs) in zip(outputs, preferred.outputs) {
      for (a, b) in zip(mine.doubles, theirs.doubles) where !(a == b || (a.isNaN && b.isNaN)) {
        largest = (a - b).isNaN ? .infinity : max(largest, abs(a - b))
      }
    }
    remark = "outputs differ by up to \(HumanReadable.significant(largest)) from the preferred precision's"
  }

  /// The run after a change of way finds cold caches and parked workers.
  func warmUp(_ cancellation: Cancellation?) throws { try session.run(cancellation) }

  func work(
    _ frames: Int, _ period: Double, _ clock: any MeasurementClock, _ cancellation: Cancellation?
  ) throws {
    burst = frames
    var due = clock.now()
    for _ in 0..<frames {
      due += period
      clock.sleep(until: due)
      seconds.append(
        try clock.time {
          try session.write(inputs)
          try session.run(cancellation)
        })
    }
  }

  func add(_ energy: StreamTrial.Metered?) {
    guard let energy, energy.joules > 0, energy.joules.isFinite else {
      joules = nil
      return
    }
    joules?.append(energy.joules / Double(burst))
    source = energy.source
  }

  /// Of a frame; nil where a round was not measured.
  var measuredJoules: Double? { joules.flatMap { try? LatencyStatistics($0).median } }

  func plan(isEnergyMeasured: Bool, host: String, cores: Int, on envelope: ThermalEnvelope) -> StreamPlan {
    let median = (try? LatencyStatistics(seconds).median) ?? 0
    let measured = isEnergyMeasured ? measuredJoules : nil
    return StreamPlan(
      label: variant.label, secondsPerFrame: max(median, 1e-7),
      joulesPerFrame: measured
        ?? variant.estimatedJoules(seconds: median, host: host, cores: cores, on: envelope),
      energySource: measured == nil ? StreamVariant.estimateSource(envelope) : source, remark: remark)
  }
}
