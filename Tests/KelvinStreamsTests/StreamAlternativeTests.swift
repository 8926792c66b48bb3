import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinStreams
import KelvinThermal
import TestSupport
import Testing

@Suite("Stream alternatives")
struct StreamAlternativeTests {
  private let clock = VirtualClock()

  private func context(hasLowPrecision: Bool = false) throws -> ModelContext {
    try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock, hasLowPrecision: hasLowPrecision) { _ in 2e-3 },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 1e-3 },
      ])
  }

  private func ways(_ context: ModelContext, _ units: String, _ precision: Precision = .automatic) throws
    -> [StreamVariant]
  {
    let request = PlanRequest(units: UnitsSelection(units) ?? .all, precision: precision, threads: 4)
    return try context.streamVariants(try context.explain(request), precision: precision, threads: 4)
  }

  @Test("a single device offers fewer threads, and a lower precision if it differs")
  func single() throws {
    #expect(try ways(context(), "cpu").map(\.label) == ["as planned", "2 CPU threads", "1 CPU thread"])
    let low = try ways(context(hasLowPrecision: true), "cpu")
    #expect(low.map(\.label) == ["as planned", "2 CPU threads", "1 CPU thread", "precision low"])
    #expect(low.map(\.threads) == [4, 2, 1, 4])
    #expect(low.map(\.precision) == [.automatic, .automatic, .automatic, .low])
    // A requested precision is kept.
    #expect(try ways(context(hasLowPrecision: true), "cpu", .full).map(\.label).contains("precision low") == false)
  }

  @Test("a device without CPU threads offers none; several devices offer each other")
  func several() throws {
    #expect(try ways(context(), "gpu:0").map(\.change).contains(.threads) == false)
    let both = try ways(context(), "cpu,gpu:0")
    #expect(both.first?.change == StreamVariant.Change.none)
    #expect(both.contains { $0.change == .plan && Set($0.solution.placement.values).count == 1 })
  }

  @Test("a trial times every alternative at the stream's rate")
  func trial() throws {
    let context = try context(hasLowPrecision: true)
    let phone = try ThermalEnvelope(named: "phone")
    let began = clock.now()
    let trial = try StreamTrial(
      try ways(context, "cpu"), in: context, inputs: { _ in chainInputs }, framesPerSecond: 30, cores: 4, on: phone,
      clock: clock,
      compile: { try context.compile($0.solution, precision: $0.precision, threads: $0.threads) })
    #expect(clock.now() - began > 4.0 / 30 * 4)
    let plans = trial.entries.map(\.plan)
    #expect(plans.allSatisfy { abs($0.secondsPerFrame - 6e-3) < 1e-9 })
    // 7.5 W for four threads, by a half and a quarter of them.
    let expected = [0.045, 0.0225, 0.01125, 0.045]
    #expect(zip(plans, expected).allSatisfy { abs($0.joulesPerFrame - $1) < 1e-9 }, "\(plans)")
    #expect(plans[3].remark == "outputs differ by up to 0 from the preferred precision's")
    #expect(plans.allSatisfy { $0.energySource.hasPrefix("estimated: time at work") })
    let ladder = try StreamLadder(choosingAmong: plans, framesPerSecond: 30, options: .init(rates: []))
    #expect(ladder.labels == ["as planned", "2 CPU threads", "1 CPU thread"])
  }

  @Test("measured energy is used, and an alternative that cannot run is omitted")
  func metered() throws {
    let context = try context()
    let trial = try StreamTrial(
      try ways(context, "cpu"), in: context, inputs: { _ in chainInputs }, cores: 4,
      on: try ThermalEnvelope(named: "phone"),
      clock: clock,
      meter: { _, work in
        try work()
        return .init(joules: 0.8, source: "measured by a test")
      },
      compile: { variant in
        if variant.threads == 2 { throw RuntimeError.invalidChoice("two threads are one too many") }
        return try context.compile(variant.solution, precision: variant.precision, threads: variant.threads)
      })
    #expect(trial.entries.map(\.plan.label) == ["as planned", "1 CPU thread"])
    #expect(trial.entries.allSatisfy { abs($0.plan.joulesPerFrame - 0.2) < 1e-9 })
    #expect(trial.entries[0].plan.energySource == "measured by a test")
    #expect(trial.isEnergyMeasured)
    #expect(trial.remarks == ["the variant '2 CPU threads' was left out: two threads are one too many"])
  }

  @Test("if a counter fails for one alternative, all energies are estimated")
  func oneUnmeasured() throws {
    let context = try context()
    var calls = 0
    let trial = try StreamTrial(
      try ways(context, "cpu"), in: context, inputs: { _ in chainInputs }, cores: 4,
      on: try ThermalEnvelope(named: "phone"),
      clock: clock,
      meter: { _, work in
        try work()
        calls += 1
        return calls == 5 ? nil : .init(joules: 0.8, source: "measured by a test")
      }, compile: { try context.compile($0.solution, precision: $0.precision, threads: $0.threads) })
    #expect(!trial.isEnergyMeasured)
    #expect(trial.entries.allSatisfy { $0.plan.energySource.hasPrefix("estimated: time at work") })
  }
}
