import KelvinBasics
package import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements
package import KelvinRuntime
package import KelvinThermal

/// The variants of a stream, compiled and timed in turns, from which a ladder is made.
package struct StreamTrial {
  /// Measures the joules of some work; returns nil if no sensor measures them.
  package typealias Metering = (_ devices: [DeviceInfo], _ work: () throws -> Void) throws -> Metered?

  /// The measured joules of some work, and their source in words.
  package struct Metered: Sendable, Hashable {
    package var joules: Double
    package var source: String

    package init(joules: Double, source: String) {
      self.joules = joules
      self.source = source
    }
  }

  /// A variant that is ready to run.
  package struct Entry {
    package var variant: StreamVariant
    package var model: CompiledModel
    /// The plan with the measured seconds and joules of a frame.
    package var plan: StreamPlan
  }

  /// The preferred variant first. Variants that this machine cannot run are left out.
  package private(set) var entries: [Entry]
  /// Whether the joules of every variant were measured; otherwise all are estimated, because a ladder compares them.
  package let isEnergyMeasured: Bool
  /// The reasons for which variants were left out, in words.
  package private(set) var remarks: [String] = []

  private static let rounds = 5
  /// Frames of each variant in a round.
  private static let frames = 4
  /// The longest wait between two frames in seconds; longer waits do not change the result.
  private static let longestPeriod = 0.1

  /// - Parameters:
  ///   - variants: the preferred one first.
  ///   - framesPerSecond: arrivals per second; frames are timed with the stream's pauses, because sleeping threads take
  ///     longer than busy ones. Nil for one frame after the other.
  ///   - inputs: returns the inputs with which a variant is timed.
  ///   - envelope: the envelope by which joules are estimated if `meter` does not measure them.
  ///   - compile: compiles a variant.
  /// - Throws: `RuntimeError` when the preferred variant cannot run or the user cancels.
  package init(
    _ variants: [StreamVariant], in context: ModelContext, inputs: (StreamVariant) throws -> [Tensor],
    framesPerSecond: Double? = nil, cores: Int, on envelope: ThermalEnvelope,
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
        let run = try Run(variant, try compile(variant), try inputs(variant), cancellation)
        if let first = runs.first, variant.change == .precision { run.compare(with: first) }
        runs.append(run)
      } catch {
        if runs.isEmpty || cancellation?.isCancelled == true { throw error }
        remarks.append("the variant '\(variant.label)' was left out: \(error)")
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

/// A variant while it is timed.
private final class Run {
  let variant: StreamVariant
  let model: CompiledModel
  private let session: Session
  private let inputs: [Tensor]
  private let outputs: [Tensor]
  private var remark: String
  private var seconds: [Double] = []
  private var burst = 0
  private var joules: [Double]? = []
  private var source = ""

  init(_ variant: StreamVariant, _ model: CompiledModel, _ inputs: [Tensor], _ cancellation: Cancellation?) throws {
    self.variant = variant
    self.model = model
    session = try model.makeSession()
    self.inputs = inputs
    remark = variant.change == .input ? "the model sees fewer pixels" : ""
    outputs = try session.run(inputs, cancellation)
  }

  /// Determines the difference of its outputs from the preferred variant's.
  func compare(with preferred: Run) {
    var largest = 0.0
    for (mine, theirs) in zip(outputs, preferred.outputs) {
      for (a, b) in zip(mine.doubles, theirs.doubles) where !(a == b || (a.isNaN && b.isNaN)) {
        largest = (a - b).isNaN ? .infinity : max(largest, abs(a - b))
      }
    }
    remark = "outputs differ by up to \(HumanReadable.significant(largest)) from the preferred precision's"
  }

  /// Runs once, because the run after a change of variant finds cold caches and parked workers.
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

  /// The joules of a frame; nil when a round was not measured.
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
