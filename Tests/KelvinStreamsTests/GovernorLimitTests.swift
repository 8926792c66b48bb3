import KelvinBasics
import KelvinMeasurements
import KelvinStreams
import KelvinThermal
import Testing

@Suite("Governor with limits of power and time")
struct GovernorLimitTests {
  private static let plans = [
    StreamPlan(label: "fast", secondsPerFrame: 0.02, joulesPerFrame: 0.2),
    StreamPlan(label: "lean", secondsPerFrame: 0.03, joulesPerFrame: 0.1),
  ]

  private func report(_ at: Double, watts: Double?, headroom: Double = 0.3) -> ThermalReport {
    ThermalReport(
      at: at, state: .nominal, headroom: headroom, source: .energy, sourceDescription: "scripted", watts: watts)
  }

  private func governor(_ options: Governor.Options, framesPerSecond: Double = 30) throws -> Governor {
    Governor(
      try StreamLadder(choosingAmong: Self.plans, framesPerSecond: framesPerSecond, options: options), options: options)
  }

  /// Feeds a report each second with the power that the governor's setting draws.
  ///
  /// - Parameter idle: the power without the stream.
  /// - Returns: the actions, and the power in the last second.
  private func run(
    _ governor: inout Governor, _ seconds: ClosedRange<Int>, idle: Double = 2
  ) -> (actions: [GovernorAction], watts: Double) {
    var actions: [GovernorAction] = []
    var watts = 0.0
    for second in seconds {
      let plan = Self.plans[governor.setting.plan]
      watts = idle + 30 * plan.joulesPerFrame * governor.setting.rate
      if let action = governor.update(report(Double(second), watts: watts)) { actions.append(action) }
    }
    return (actions, watts)
  }

  @Test("a machine over the limit of power gets a leaner setting, and stays below the limit")
  func power() throws {
    var governor = try governor(.init(mostWatts: 6))
    let (actions, watts) = run(&governor, 0...300)
    #expect(actions.first?.cause.contains("8.00 W is over the limit of 6.00 W") == true, "\(actions.map(\.text))")
    #expect(watts <= 6)
    #expect(governor.setting.plan == 1, "the lean plan needs 5 W")
    #expect(governor.setting.rate == 1, "all frames fit")
    #expect(actions.count == 1, "no step back to a setting that needs 8 W: \(actions.map(\.text))")
  }

  @Test("without the limit, the same machine keeps its setting")
  func noLimit() throws {
    var governor = try governor(.init())
    #expect(run(&governor, 0...300).actions.isEmpty)
  }

  @Test("reports without power change nothing, and a limit that is kept changes nothing")
  func quiet() throws {
    var governor = try governor(.init(mostWatts: 6))
    for second in 0...100 {
      #expect(governor.update(report(Double(second), watts: nil)) == nil)
    }
    var roomy = try self.governor(.init(mostWatts: 9))
    #expect(run(&roomy, 0...300).actions.isEmpty)
  }

  @Test("a return to the preferred setting keeps a reserve of the power")
  func powerReturns() throws {
    var governor = try governor(.init(mostWatts: 7))
    _ = run(&governor, 0...60)
    #expect(governor.setting.plan == 1)
    // Other programs end, and the machine draws less for the same frames.
    let (actions, watts) = run(&governor, 61...400, idle: 0.2)
    #expect(actions.last?.isReturn == true, "\(actions.map(\.text))")
    #expect(governor.setting == GovernorSetting(plan: 0, rate: 1, queue: 1))
    #expect(abs(watts - 6.2) < 1e-9)
  }

  /// Answers 30 frames a second for some seconds.
  ///
  /// - Parameters:
  ///   - pace: the factor of the plans' times.
  ///   - wait: seconds that each frame waits.
  private func answer(
    _ governor: inout Governor, _ seconds: Range<Int>, pace: Double, wait: Double = 0
  ) -> [GovernorAction] {
    var actions: [GovernorAction] = []
    for frame in seconds.lowerBound * 30..<seconds.upperBound * 30 {
      let service = pace * Self.deadlinePlans[governor.setting.plan].secondsPerFrame
      let now = Double(frame) / 30
      let latency = service + (governor.setting.rate == 1 ? wait : 0)
      if let action = governor.update(answeredAt: now, latency: latency, service: service) { actions.append(action) }
    }
    return actions
  }

  private static let deadlinePlans = [
    StreamPlan(label: "exact", secondsPerFrame: 0.03, joulesPerFrame: 0.2),
    StreamPlan(label: "short", secondsPerFrame: 0.01, joulesPerFrame: 0.1),
  ]

  private func deadlineGovernor(_ deadline: Double) throws -> Governor {
    let options = Governor.Options(deadline: deadline)
    return Governor(
      try StreamLadder(choosingAmong: Self.deadlinePlans, framesPerSecond: 30, options: options), options: options)
  }

  @Test("answers after the deadline lead to a faster plan, and the cause counts them")
  func deadline() throws {
    var governor = try deadlineGovernor(0.04)
    #expect(answer(&governor, 0..<20, pace: 1).isEmpty)
    let actions = answer(&governor, 20..<60, pace: 2)
    #expect(actions.count == 1, "\(actions.map(\.text))")
    #expect(actions.first?.measure == .plan(1))
    #expect(actions.first?.cause.contains("answers came after the deadline of 40.0 ms") == true)
  }

  @Test("frames that wait for each other lead to fewer frames, not to another plan")
  func waiting() throws {
    var governor = try deadlineGovernor(0.04)
    let actions = answer(&governor, 0..<30, pace: 1, wait: 0.02)
    #expect(actions.first?.setting == GovernorSetting(plan: 0, rate: 0.75, queue: 1), "\(actions.map(\.text))")
    #expect(actions.count == 1)
  }

  @Test("single late answers change nothing")
  func fewLate() throws {
    var governor = try deadlineGovernor(0.04)
    for frame in 0..<900 {
      let isLate = frame.isMultiple(of: 20)
      #expect(
        governor.update(answeredAt: Double(frame) / 30, latency: isLate ? 0.1 : 0.03, service: 0.03) == nil)
    }
  }

  @Test("limits that are not positive numbers are refused", arguments: [0, -1, Double.nan, .infinity])
  func refused(_ limit: Double) {
    for options in [Governor.Options(mostWatts: limit), .init(deadline: limit)] {
      #expect(throws: StreamError.self) { try Governor(plans: ["a"], options: options) }
    }
  }

  private func step(at now: Double) -> GovernorAction {
    GovernorAction(
      at: now, measure: .rate(0.5), setting: .init(rate: 0.5), isReturn: false, what: "50 % of the frames", cause: "")
  }

  @Test("with fast heat, the effect of a step is measured in seconds of the heat")
  func fastEffect() throws {
    var meter = StepMeter(speed: 60)
    var effect: StepEffect?
    // A frame at 30 frames/s takes two seconds of the heat; the step halves the rate.
    for frame in 0..<60 {
      let now = Double(2 * frame)
      if now == 40 { #expect(meter.begin(step(at: now)) == nil) }
      if now <= 40 || frame.isMultiple(of: 2) { meter.add(answerAt: now, latency: 0.02) }
      meter.add(report(now, watts: 5, headroom: now / 600))
      effect = effect ?? meter.due(at: now)?.1
    }
    guard case .measured(let before, let after) = try #require(effect) else {
      return #expect(Bool(false), "\(effect!)")
    }
    #expect(abs((before.rate ?? 0) - 30) < 7 && abs((after.rate ?? 0) - 15) < 4, "\(before), \(after)")
    #expect(abs((after.headroomPerMinute ?? 0) - 0.1) < 1e-6)
    #expect(meter.finish(at: 200) == nil, "it is told once")
  }

  @Test("a step without enough answers after it says so, and why")
  func unmeasured() throws {
    var meter = StepMeter(speed: 60)
    for second in 0...20 { meter.add(answerAt: Double(second), latency: 0.02) }
    #expect(meter.begin(step(at: 20)) == nil)
    #expect(meter.due(at: 40) == nil, "no answer came since")
    let next = meter.begin(step(at: 32))
    let first = try #require(next)
    #expect(first.0.at == 20 && first.1 == .unmeasured(reason: "the next step came after 200 ms"), "\(first.1)")
    let end = meter.finish(at: 38)
    let last = try #require(end)
    #expect(last.0.at == 32 && last.1 == .unmeasured(reason: "no answers came before the step"), "\(last.1)")
    #expect(meter.finish(at: 38) == nil)
  }

  @Test("a step at the end of a stream is measured if enough answers follow it")
  func effectAtEnd() throws {
    for (seconds, isMeasured) in [(2, false), (6, true)] {
      var meter = StepMeter()
      for frame in 0..<(10 + seconds) * 30 {
        let now = Double(frame) / 30
        if now == 10 { #expect(meter.begin(step(at: now)) == nil) }
        meter.add(answerAt: now, latency: 0.02)
      }
      let last = meter.finish(at: Double(10 + seconds))
      let effect = try #require(last).1
      #expect(effect.isMeasured == isMeasured, "\(effect)")
      if !isMeasured { #expect(effect.text == "the stream ended after 2.00 s") }
    }
  }

  @Test("the effect of a step is what the seconds before and after it show")
  func effect() throws {
    var meter = StepMeter()
    let action = step(at: 20)
    var effect: StepEffect?
    for frame in 0..<1200 {
      let now = Double(frame) / 30
      if now == 20 { #expect(meter.begin(action) == nil) }
      if now < 20 || frame.isMultiple(of: 2) { meter.add(answerAt: now, latency: now < 20 ? 0.05 : 0.02) }
      if frame.isMultiple(of: 30) {
        meter.add(report(now, watts: now < 20 ? 8 : 5, headroom: now < 20 ? 0.5 + now / 600 : 0.53))
      }
      effect = effect ?? meter.due(at: now)?.1
    }
    let found = try #require(effect)
    guard case .measured(let before, let after) = found else { return #expect(Bool(false), "\(found)") }
    #expect(abs((before.rate ?? 0) - 30) < 0.5 && abs((after.rate ?? 0) - 15) < 0.5, "\(found)")
    #expect(before.latency == 0.05 && after.latency == 0.02)
    #expect(before.watts == 8 && after.watts == 5)
    #expect(abs((before.headroomPerMinute ?? 0) - 0.1) < 1e-6 && after.headroomPerMinute == 0)
    #expect(
      found.text.contains(
        "50.0 ms to 20.0 ms each, machine 8.00 to 5.00 W, heat +0.100 to +0.000 of the limit a minute"),
      "\(found.text)")
  }
}
