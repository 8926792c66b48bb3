import KelvinStreams
import KelvinThermal
import Testing

@Suite("Simulated heat")
struct SimulatedHeatTests {
  /// A stream of 30 frames a second on a phone, whose plans' frames take and draw what they say.
  private struct Scene {
    static let frame = 1.0 / 30
    var heat: SimulatedHeat
    var governor: Governor?
    let plans: [StreamPlan]
    var now = 0.0
    var told: [String] = []
    var hottest = 0.0
    private var queue = FrameQueue<Void>()
    private var arrivals = PacedArrivals(rate: 30)

    init(speed: Double, isGoverned: Bool) throws {
      heat = try SimulatedHeat(envelope: try ThermalEnvelope(named: "phone"), speed: speed)
      plans = [
        StreamPlan(label: "as planned", secondsPerFrame: 0.02, joulesPerFrame: 0.13),
        StreamPlan(label: "1 CPU thread", secondsPerFrame: 0.03, joulesPerFrame: 0.1),
      ]
      if isGoverned { governor = Governor(try StreamLadder(choosingAmong: plans, framesPerSecond: 30)) }
    }

    /// Frames until `end`, each drawing `share` of what its plan usually does.
    mutating func run(until end: Double, share: Double = 1) {
      while let due = arrivals.due, due < end {
        now = max(now, due)
        queue.setting = governor?.setting ?? .init()
        arrivals.admit(until: now, to: &queue)
        guard queue.take(at: now) != nil else { continue }
        let plan = plans[queue.setting.plan]
        now += plan.secondsPerFrame
        heat.add(seconds: plan.secondsPerFrame, watts: share * plan.watts)
        for report in heat.advance(to: now) {
          hottest = max(hottest, report.headroom)
          if let action = governor?.update(report) { told.append("\(Int(action.at)) \(action.text)") }
        }
      }
    }
  }

  @Test("an ungoverned stream crosses the limit; the governed one stays below, and returns when it has cooled")
  func governed() throws {
    var ungoverned = try Scene(speed: 60, isGoverned: false)
    ungoverned.run(until: 60)
    #expect(ungoverned.hottest > 1.2)
    var governed = try Scene(speed: 60, isGoverned: true)
    governed.run(until: 60)
    #expect(governed.hottest < 1)
    #expect(governed.governor?.setting.plan == 1)
    governed.run(until: 200, share: 0.1)
    #expect(governed.governor?.setting == .init())
    #expect(governed.hottest < 1)
  }

  @Test("the governor's actions and their times follow the envelope")
  func actions() throws {
    var scene = try Scene(speed: 20, isGoverned: true)
    scene.run(until: 18)
    #expect(
      scene.told == [
        "86 plan '1 CPU thread' instead of 'as planned': heat is 0.90 of the limit and would pass 0.99 within 30.0 s; expected: 30.0 frames/s, 0.900 W less",
        "181 93.5 % of the frames: heat is 0.96 of the limit and would pass 0.99 within 30.0 s; expected: 28.1 instead of 30.0 frames/s, 0.195 W less",
        "194 87.5 % of the frames: heat is 0.97 of the limit and would pass 0.98 within 30.0 s; expected: 26.3 instead of 28.1 frames/s, 0.180 W less",
        "239 83.5 % of the frames: heat is 0.97 of the limit and would pass 0.98 within 30.0 s; expected: 25.0 instead of 26.3 frames/s, 0.120 W less",
        "249 80 % of the frames: heat is 0.97 of the limit; above 0.97, short peaks would reach the limit; expected: 24.0 instead of 25.0 frames/s, 0.105 W less",
        "311 82.5 % of the frames: heat is 0.93 of the limit and is expected to stay below it; expected: 24.8 instead of 24.0 frames/s, 0.075 W more",
      ])
  }

  @Test("simulated minutes pass in seconds and follow the thermal model")
  func speed() throws {
    let phone = try ThermalEnvelope(named: "phone")
    var heat = try SimulatedHeat(envelope: phone, speed: 60)
    heat.add(seconds: 0.5, watts: 4)
    let reports = heat.advance(to: 1)
    #expect(reports.count == 60)
    #expect(reports.last?.at == 60)
    var model = phone.model()
    model.advance(by: 60, load: phone.load(watts: phone.idleWatts + 2))
    #expect(abs((reports.last?.headroom ?? 0) - model.headroom) < 1e-12)
    #expect(reports.allSatisfy { $0.sourceDescription.hasPrefix("simulated: the envelope \"phone\", 60.0 s of") })
    #expect(reports.allSatisfy { $0.celsius == nil })
    #expect(heat.advance(to: 1).isEmpty && heat.advance(to: 0.5).isEmpty && heat.advance(to: .nan).isEmpty)
    heat.add(seconds: .nan, watts: 1)
    heat.add(seconds: -1, watts: 1)
    #expect(abs((heat.advance(to: 2).last?.watts ?? 0) - phone.idleWatts) < 1e-12)
  }

  @Test("a speed without time between reports is refused")
  func refused() throws {
    for speed in [0, 0.5, 601, .nan, .infinity] {
      #expect(throws: StreamError.self) {
        try SimulatedHeat(envelope: try ThermalEnvelope(named: "phone"), speed: speed)
      }
    }
  }
}
