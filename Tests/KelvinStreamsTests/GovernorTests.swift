import KelvinBasics
import KelvinMeasurements
import KelvinStreams
import KelvinThermal
import Testing

@Suite("Governor")
struct GovernorTests {
  private func report(
    _ at: Double, _ state: ThermalState, headroom: Double? = nil, limit: Double? = nil
  ) -> ThermalReport {
    let usual = [0.5, 0.78, 0.92, 1.05][state.rawValue]
    return ThermalReport(
      at: at, state: state, headroom: headroom ?? usual, source: .model, sourceDescription: "scripted",
      timeToLimit: limit)
  }

  private func governor(queue: Int = 1, options: Governor.Options = .init()) throws -> Governor {
    try Governor(plans: ["all", "cpu-only"], queue: queue, options: options)
  }

  @Test("the ladder: leaner plans, then no backlog, then fewer frames")
  func ladder() throws {
    #expect(
      try governor(queue: 3).ladder.rungs.map(\.setting) == [
        .init(plan: 0, rate: 1, queue: 3), .init(plan: 1, rate: 1, queue: 3), .init(plan: 1, rate: 1, queue: 1),
        .init(plan: 1, rate: 0.75, queue: 1), .init(plan: 1, rate: 0.5, queue: 1), .init(plan: 1, rate: 0.25, queue: 1),
      ])
    #expect(
      try governor(options: .init(rates: [0.5], switchesPlans: false)).ladder.rungs.map(\.setting.rate) == [1, 0.5])
    #expect(
      try governor(queue: 9, options: .init(rates: [], switchesPlans: false, dropsBacklog: false)).ladder.rungs.count
        == 1)
  }

  @Test("a stream that heats up and cools down states the cause of every action")
  func script() throws {
    var governor = try governor(queue: 2)
    var told: [String] = []
    func feed(_ seconds: ClosedRange<Int>, _ state: ThermalState, limit: Double? = nil) {
      for second in seconds {
        if let action = governor.update(report(Double(second), state, limit: limit)) {
          told.append("\(Int(action.at)) \(action.text)")
        }
      }
    }
    feed(0...9, .nominal)
    feed(10...14, .fair)
    feed(15...24, .fair, limit: 42)
    feed(25...36, .serious)
    feed(37...40, .fair)
    feed(41...170, .nominal)
    #expect(
      told == [
        "15 plan 'cpu-only' instead of 'all': fair, heat is 0.78 of the limit and would reach it in 42.0 s",
        "25 only the newest frame waits: serious, heat is 0.92 of the limit",
        "35 75 % of the frames: serious, heat is 0.92 of the limit",
        "101 100 % of the frames: nominal for 60.0 s",
        "162 2 frames may wait: nominal for 60.0 s",
      ])
    #expect(governor.setting == .init(plan: 1, rate: 1, queue: 2), "\(told)")
  }

  @Test("the critical state acts immediately, one step per dwell")
  func critical() throws {
    var governor = try governor()
    #expect(governor.update(report(0, .serious))?.measure == .plan(1))
    #expect(governor.update(report(1, .serious)) == nil)
    #expect(governor.update(report(2, .critical))?.measure == .rate(0.75))
    #expect(governor.update(report(3, .critical)) == nil)
    #expect(governor.update(report(12, .critical))?.measure == .rate(0.5))
    #expect(governor.update(report(22, .critical))?.measure == .rate(0.25))
    #expect(governor.update(report(32, .critical)) == nil)
    #expect(governor.setting == .init(plan: 1, rate: 0.25, queue: 1))
  }

  @Test("the fair state alone causes no action")
  func fairAndSteady() throws {
    var governor = try governor()
    for second in 0..<1000 { #expect(governor.update(report(Double(second), .fair)) == nil) }
  }

  @Test("a failed return doubles the wait up to its bound, and a lasting one resets it")
  func backOff() throws {
    var governor = try Governor(plans: ["all", "cpu-only"], options: .init(rates: []))
    var now = 0.0
    var waits: [Double] = []
    for _ in 0..<7 {
      while governor.rung == 0 {
        now += 1
        _ = governor.update(report(now, .serious))
      }
      let cool = now + 1
      while governor.rung == 1 {
        now += 1
        _ = governor.update(report(now, .nominal))
      }
      waits.append(now - cool)
    }
    #expect(waits == [60, 120, 240, 480, 960, 960, 960])
    for _ in 0..<2000 {
      now += 1
      _ = governor.update(report(now, .nominal))
    }
    #expect(governor.wait == 60)
  }

  @Test("clock jumps, gaps and non-finite reports do not count as cooling")
  func badClocks() throws {
    var governor = try governor()
    _ = governor.update(report(100, .serious))
    #expect(governor.rung == 1)
    #expect(governor.update(report(1e6, .nominal)) == nil)
    #expect(governor.update(report(1e6 + 59, .nominal)) == nil)
    #expect(governor.update(report(5, .nominal)) == nil)
    #expect(governor.update(report(.nan, .critical)) == nil)
    #expect(governor.update(report(6, .critical, headroom: .infinity)) == nil)
    for second in 6..<65 { #expect(governor.update(report(Double(second), .nominal)) == nil) }
    #expect(governor.update(report(65, .nominal))?.isReturn == true)
  }

  @Test("any reports keep the governor on its ladder and within its delays")
  func properties() throws {
    for seed in UInt64(1)...100 {
      var random = SeededGenerator(seed: seed)
      let options = Governor.Options(dwell: 1 + 20 * random.unit(), recovery: 30 + 60 * random.unit())
      var governor = try Governor(plans: ["a", "b", "c"], queue: 1 + Int(3 * random.unit()), options: options)
      let ladder = governor.ladder.rungs.map(\.setting)
      var now = 0.0
      var lastAction: Double?
      var lastReturn: Double?
      var rung = 0
      let isFlapping = random.unit() < 0.5
      var state = ThermalState.nominal
      for step in 0..<2000 {
        now += isFlapping ? 0.5 : 3 * random.unit()
        if isFlapping {
          state = step.isMultiple(of: 2) ? .nominal : random.unit() < 0.9 ? .serious : .critical
        } else if random.unit() < 0.05 {
          state = ThermalState.allCases[min(3, Int(4 * random.unit()))]
        }
        let action = governor.update(report(now, state, limit: random.unit() < 0.5 ? 10 : nil))
        #expect(ladder.indices.contains(governor.rung), "seed \(seed)")
        #expect(governor.setting.rate >= 0.25 && governor.setting.rate <= 1, "seed \(seed)")
        guard let action else {
          #expect(governor.rung == rung, "seed \(seed)")
          continue
        }
        #expect(abs(governor.rung - rung) == 1, "seed \(seed)")
        #expect(action.setting == ladder[governor.rung], "seed \(seed)")
        #expect(!action.cause.isEmpty, "seed \(seed)")
        if action.isReturn {
          #expect(now - (lastAction ?? -.infinity) >= options.recovery, "seed \(seed)")
          #expect(now - (lastReturn ?? -.infinity) >= options.recovery, "seed \(seed)")
          #expect(state == .nominal, "seed \(seed)")
          lastReturn = now
        } else {
          #expect(state > .nominal, "seed \(seed)")
          if state != .critical { #expect(now - (lastAction ?? -.infinity) >= options.dwell, "seed \(seed)") }
        }
        lastAction = now
        rung = governor.rung
      }
      if isFlapping { #expect(lastReturn == nil, "seed \(seed): nominal never lasted") }
    }
  }

  @Test("a share of the arrivals is spread evenly")
  func thinning() {
    let half = GovernorSetting(plan: 0, rate: 0.5)
    #expect((0..<8).map { half.takes(arrival: $0) } == [false, true, false, true, false, true, false, true])
    #expect((0..<1000).count { GovernorSetting(rate: 0.75).takes(arrival: $0) } == 750)
    #expect((0..<10).allSatisfy { GovernorSetting(rate: 1).takes(arrival: $0) })
  }

  @Test("every action is in the trace, with its cause")
  func traced() throws {
    var governor = try governor()
    var trace = Trace()
    if let action = governor.update(report(3, .serious)) { trace.record(action) }
    #expect(trace.marks.first?.name == "governor: plan 'cpu-only' instead of 'all'")
    #expect(trace.marks.first?.details == ["cause": "serious, heat is 0.92 of the limit"])
    #expect(trace.counters.first?.values == ["plan": 1, "rate": 1, "queue": 1])
  }

  @Test("invalid options are refused")
  func invalid() {
    for options in [
      Governor.Options(rates: [1.5]), .init(rates: [0.5, 0.75]), .init(dwell: 0), .init(dwell: .nan),
      .init(dwell: 100, recovery: 60), .init(recovery: 100, longestRecovery: 60),
    ] {
      #expect(throws: StreamError.self) { try Governor(plans: ["a"], options: options) }
    }
    #expect(throws: StreamError.self) { try Governor(plans: []) }
    #expect(throws: StreamError.self) { try Governor(plans: ["a"], queue: 0) }
  }

  @Test(
    "on a phone the governor leaves the hot plan before the limit"
  )
  func onAPhone() throws {
    let vector = try #require(StreamSimulationTests.vectors.first)
    let comparison = try StreamComparison(vector.simulation())
    let governed = try #require(comparison.governed)
    let action = try #require(governed.actions.first)
    #expect(action.measure == .plan(1))
    #expect(governed.throttledAt == nil)
    #expect(governed.windows.map(\.state).max() ?? .critical < .critical)
    #expect(comparison.runs[0].windows.map(\.state).max() == .critical)
    #expect(governed.dropped + governed.skipped == 0)
  }
}
