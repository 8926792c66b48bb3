import FoundationEssentials
import KelvinBasics
import KelvinMeasurements
import KelvinStreams
import KelvinThermal
import Testing

/// Expected values come from `Tests/Vectors/Streams/generate.py`: a closed form, and an integration that agrees with it.
@Suite("Stream simulation")
struct StreamSimulationTests {
  struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    struct Limits: Decodable {
      var fast: ThermalPole
      var slow: ThermalPole
      var idleWatts: Double
      var sustainableWatts: Double
      var fullLoadWatts: Double
    }
    struct PlanCost: Decodable {
      var label: String
      var seconds: Double
      var joules: Double

      var plan: StreamPlan { StreamPlan(label: label, secondsPerFrame: seconds, joulesPerFrame: joules) }
    }
    struct Expected: Decodable {
      var limit: Double
      var crossover: Double
      var settledClock: Double
      var settledHotP50: Double
      var leanP50: Double
      var leanP90: Double
      var leanWatts: Double
    }
    private enum CodingKeys: String, CodingKey {
      case name
      case limits = "envelope"
      case rate, exponent, duration, noise, hot, lean, expected
    }
    var name: String
    var limits: Limits
    var rate: Double?
    var exponent: Double
    var duration: Double
    var noise: Double
    var hot: PlanCost
    var lean: PlanCost
    var expected: Expected

    var testDescription: String { name }

    func simulation(seed: UInt64 = 7, noise: Double? = nil, coLoad: Double = 0) throws -> StreamSimulation {
      let envelope = ThermalEnvelope(
        name: name, summary: "", fast: limits.fast, slow: limits.slow, idleWatts: limits.idleWatts,
        sustainableWatts: limits.sustainableWatts, fullLoadWatts: limits.fullLoadWatts, sources: [:])
      return try StreamSimulation(
        envelope: envelope, plans: [hot.plan, lean.plan],
        stream: .init(framesPerSecond: rate, queue: 1, duration: duration, coLoad: coLoad), seed: seed,
        physics: .init(clockExponent: exponent, noise: noise ?? self.noise))
    }
  }

  static let root = String(#filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 })
  static let vectors: [Vector] = {
    struct Document: Decodable { var cases: [Vector] }
    guard let text = SystemFiles(root: root).text("Tests/Vectors/Streams/expected.json"),
      let document = try? JSONDecoder().decode(Document.self, from: Data(text.utf8))
    else { return [] }
    return document.cases
  }()

  @Test("the test vectors exist and match the shipped envelopes")
  func vectorsAreCurrent() throws {
    #expect(Self.vectors.count >= 5)
    for vector in Self.vectors {
      let name = try #require(vector.name.split(separator: ",").first).split(separator: " ").joined(separator: "-")
      let shipped = try ThermalEnvelope(named: name)
      #expect(shipped.fast == vector.limits.fast && shipped.slow == vector.limits.slow, "run generate.py")
      #expect(shipped.sustainableWatts == vector.limits.sustainableWatts, "run generate.py")
      #expect(shipped.idleWatts == vector.limits.idleWatts, "run generate.py")
    }
  }

  @Test(
    "the crossover of two plans matches the closed form",
    arguments: vectors)
  func overtaken(_ vector: Vector) throws {
    let quiet = try StreamComparison(vector.simulation(noise: 0), governor: nil)
    let exact = try #require(quiet.crossovers.first)
    #expect(abs(exact.at - vector.expected.crossover) <= 2, "\(exact.at) without noise")
    let comparison = try StreamComparison(vector.simulation(), governor: nil)
    let hot = comparison.runs[0]
    let lean = comparison.runs[1]
    let expected = vector.expected
    let slowed = try #require(hot.throttledAt)
    #expect(abs(slowed - expected.limit) <= 1.5)
    #expect(lean.throttledAt == nil)
    let crossover = try #require(comparison.crossovers.first)
    #expect(comparison.crossovers.count == 1)
    #expect(crossover.overtaken == 0 && crossover.overtaking == 1)
    #expect(crossover.measure == (vector.rate == nil ? .rate : .latency))
    #expect(abs(crossover.at - expected.crossover) <= 0.05 * expected.crossover, "\(crossover.at)")
    let end = try #require(hot.windows.last)
    #expect(abs(end.clock - expected.settledClock) < 0.005)
    #expect(abs(end.watts - vector.limits.sustainableWatts) < 0.02 * vector.limits.sustainableWatts)
    #expect(abs(end.headroom - 1) < 0.02)
    if let rate = vector.rate, rate * vector.hot.seconds < expected.settledClock {
      #expect(abs(try #require(end.p50) / expected.settledHotP50 - 1) < 0.02)
    }
    let steady = try #require(lean.windows.last)
    #expect(abs(try #require(steady.p50) / expected.leanP50 - 1) < 0.015)
    #expect(abs(try #require(steady.p90) / expected.leanP90 - 1) < 0.02)
    #expect(abs(steady.watts / expected.leanWatts - 1) < 0.02)
    #expect(comparison.bestCool == 0)
    #expect(comparison.bestSettled == 1)
  }

  @Test("equal seeds give equal runs, and other seeds give the same crossover minute")
  func deterministic() throws {
    let vector = try #require(Self.vectors.first)
    let first = try StreamComparison(vector.simulation(seed: 1))
    let again = try StreamComparison(vector.simulation(seed: 1))
    let other = try StreamComparison(vector.simulation(seed: 2))
    #expect(try first.json() == again.json())
    #expect(first.runs[0].windows != other.runs[0].windows)
    let (one, two) = (try #require(first.crossovers.first), try #require(other.crossovers.first))
    #expect(abs(one.minutes - two.minutes) < 0.2)
  }

  @Test("hours of virtual time run quickly, and a week of arrivals is refused")
  func accelerated() throws {
    let vector = try #require(Self.vectors.first)
    let base = try vector.simulation()
    let stream = StreamSimulation.Stream(framesPerSecond: 30, queue: 3, duration: 8 * 3600)
    let run = try StreamSimulation(envelope: base.envelope, plans: base.plans, stream: stream).run(plan: 1)
    #expect(run.served == 864_000)
    #expect(run.dropped == 0)
    #expect(run.windows.count == 360)
  }

  @Test("headroom stays at the limit while the clock can be reduced")
  func regulated() throws {
    for seed in UInt64(1)...40 {
      var random = SeededGenerator(seed: seed)
      let idle = 0.1 + 5 * random.unit()
      let sustainable = idle + 1 + 50 * random.unit()
      let weight = 0.1 + 0.8 * random.unit()
      let envelope = ThermalEnvelope(
        name: "random", summary: "", fast: ThermalPole(weight: weight, tau: 2 + 8 * random.unit()),
        slow: ThermalPole(weight: 1 - weight, tau: 60 + 540 * random.unit()), idleWatts: idle,
        sustainableWatts: sustainable, fullLoadWatts: sustainable + 20, sources: [:])
      let seconds = 0.002 + 0.03 * random.unit()
      let watts = (sustainable - idle) * (0.3 + 2 * random.unit())
      let plan = StreamPlan(label: "a", secondsPerFrame: seconds, joulesPerFrame: watts * seconds)
      let simulation = try StreamSimulation(
        envelope: envelope, plans: [plan],
        stream: .init(framesPerSecond: random.unit() < 0.5 ? nil : 5 + 40 * random.unit(), duration: 1200), seed: seed)
      let run = simulation.run(plan: 0)
      for report in run.reports {
        #expect(report.headroom <= 1.03 || report.clockRatio == simulation.physics.lowestClock, "seed \(seed)")
        #expect(report.celsius == nil)
      }
      let first = run.reports.first { ($0.clockRatio ?? 1) < 1 }
      if let first { #expect(first.headroom > 0.9, "seed \(seed)") }
    }
  }

  @Test("a co-load takes time from the stream and adds its own power")
  func coLoad() throws {
    let vector = try #require(Self.vectors.first)
    let alone = try vector.simulation(noise: 0).run(plan: 1)
    let shared = try vector.simulation(noise: 0, coLoad: 0.2).run(plan: 1)
    let (p50, slower) = (try #require(alone.windows[0].p50), try #require(shared.windows[0].p50))
    #expect(abs(p50 - 0.026) < 1e-12)
    #expect(abs(slower - 0.0325) < 1e-9)
    let added = 0.2 * (vector.limits.fullLoadWatts - vector.limits.idleWatts)
    #expect(abs(shared.windows[0].watts - alone.windows[0].watts - added) < 0.01)
  }

  @Test("unserved frames are dropped and counted, and the newest wins")
  func drops() throws {
    let envelope = try ThermalEnvelope(named: "server")
    let plan = StreamPlan(label: "slow", secondsPerFrame: 0.1, joulesPerFrame: 1)
    for queue in [1, 3] {
      let run = try StreamSimulation(
        envelope: envelope, plans: [plan], stream: .init(framesPerSecond: 25, queue: queue, duration: 100),
        physics: .init(noise: 0)
      ).run(plan: 0)
      #expect(abs(run.served - 1000) <= 1)
      #expect(abs(run.served + run.dropped - 2500) <= queue + 1)
      let waited = try #require(run.windows.last?.p90)
      #expect(waited <= 0.1 + Double(queue) / 25 + 1e-9)
    }
  }

  @Test("invalid values are refused with their reason")
  func invalid() throws {
    let envelope = try ThermalEnvelope(named: "phone")
    func refused(_ plan: StreamPlan?, _ stream: StreamSimulation.Stream, _ part: String) {
      let error = #expect(throws: StreamError.self) {
        try StreamSimulation(envelope: envelope, plans: plan.map { [$0] } ?? [], stream: stream)
      }
      #expect(error?.description.contains(part) == true, "\(String(describing: error))")
    }
    let plan = StreamPlan(label: "a", secondsPerFrame: 0.01, joulesPerFrame: 0.1)
    refused(nil, .init(framesPerSecond: 30), "at least one plan")
    refused(plan, .init(framesPerSecond: .nan), "frames/s")
    refused(plan, .init(framesPerSecond: 30, queue: 0), "may wait")
    refused(plan, .init(framesPerSecond: 30, duration: .infinity), "a week")
    refused(plan, .init(framesPerSecond: 30, coLoad: 1), "co-load")
    refused(plan, .init(framesPerSecond: 10_000, duration: 604_800), "frames")
    for seconds in [0, -1, .nan, .infinity, 1e9] {
      refused(StreamPlan(label: "a", secondsPerFrame: seconds, joulesPerFrame: 1), .init(framesPerSecond: 1), "seconds")
    }
    refused(StreamPlan(label: "a", secondsPerFrame: 1, joulesPerFrame: -1), .init(framesPerSecond: 1), "joules")
  }

  @Test("the output has at most 80 columns and names the crossover and the envelope")
  func text() throws {
    let vector = try #require(Self.vectors.first)
    let comparison = try StreamComparison(vector.simulation())
    let lines = comparison.lines
    for line in lines { #expect(line.count <= 80, "\(line)") }
    let text = lines.joined(separator: "\n")
    #expect(text.contains("all is overtaken by cpu-only after"))
    #expect(text.contains("No temperature is known or shown"))
    #expect(text.contains("Governor"))
    #expect(comparison.verdict.last?.contains("pick cpu-only") == true)
  }

  @Test("plans within noise have no crossover, and the lower-energy one is named")
  func noise() throws {
    let envelope = try ThermalEnvelope(named: "phone")
    for seed in UInt64(0)..<10 {
      let plans = [
        StreamPlan(label: "one", secondsPerFrame: 0.01, joulesPerFrame: 0.0200),
        StreamPlan(label: "other", secondsPerFrame: 0.01, joulesPerFrame: 0.0199),
      ]
      let comparison = try StreamComparison(
        StreamSimulation(
          envelope: envelope, plans: plans, stream: .init(framesPerSecond: 30, duration: 300), seed: seed,
          physics: .init(noise: 0.02)))
      #expect(comparison.crossovers.isEmpty, "seed \(seed)")
      #expect(
        comparison.verdict == ["Over 5 min on the envelope \"phone\" no plan is clearly faster; other draws least."])
    }
  }
}
