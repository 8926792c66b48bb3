import FoundationEssentials
import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal
import Synchronization
import TestSupport
import Testing

/// Recommendations from measurements on a virtual clock.
struct AdviceTests {
  private let clock = VirtualClock()

  /// - Parameter loss: called before each submission to the card; whether it is lost.
  private func advise(
    cpu: Double = 1e-3, gpu: Double = 4e-3, hasLowPrecision: Bool = false,
    precisions: [Precision] = [.automatic, .low],
    questions: Set<AdviceRequest.Question> = Set(AdviceRequest.Question.allCases), budget: Double = 180,
    envelope: ThermalEnvelope = .phone, cancellation: Cancellation? = nil,
    loss: @escaping @Sendable () -> Bool = { false }
  ) throws -> Advice {
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in cpu },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock, hasLowPrecision: hasLowPrecision, fails: loss) { _ in
          gpu
        },
      ])
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, classes: 0, loadSeconds: 0.002)
    let candidates = ["cpu", "gpu:0"].flatMap { units in
      precisions.map { precision in
        BenchmarkConfiguration(
          label: precision == .low ? "\(units), low" : units,
          request: PlanRequest(units: UnitsSelection(units) ?? .all, precision: precision))
      }
    }
    var options = BenchmarkOptions()
    options.cancellation = cancellation
    return try AdviceRunner(
      subject, AdviceRequest(questions: questions, framesPerSecond: 20, envelope: envelope, budget: budget), candidates,
      options: options, kelvinVersion: "test", machine: .server, clock: clock, files: noFiles
    ).run()
  }

  @Test("the faster device is picked for every question, and the slower one has a cost")
  func picks() throws {
    let advice = try advise()
    #expect(advice.rows.map(\.label) == ["cpu", "gpu:0"])
    #expect(advice.picks.map(\.question) == AdviceRequest.Question.allCases)
    for pick in advice.picks where pick.question != .sustained {
      #expect(advice.rows[pick.row].label == "cpu", "\(pick)")
      #expect(pick.isClear && pick.next?.row == 1, "\(pick)")
      #expect(advice.sentence(pick).contains("pick cpu"))
    }
    let photo = try #require(advice.picks.first)
    #expect(abs((advice.rows[0].warm ?? 0) - 3e-3) < 1e-9)
    #expect(try #require(photo.next).ratio > 1.5)
    #expect(advice.rows[1].stream?.latency.p99 ?? 0 > 0.0119)
    #expect(abs((advice.rows[0].throughput?.throughput ?? 0) - 1000.0 / 3) < 4)
    #expect(advice.plan(of: photo).usedDevices == ["cpu"])
    #expect(advice.crossovers.isEmpty)
  }

  @Test("precision levels that a device computes alike are one row")
  func precisionLevels() throws {
    let same = try advise(questions: [.photo])
    #expect(same.rows.map(\.candidate.equivalentLabels) == [["cpu, low"], ["gpu:0, low"]])
    #expect(same.notes.contains { $0.contains("automatic, low") && $0.contains("cpu and gpu:0") }, "\(same.notes)")
    let apart = try advise(hasLowPrecision: true, questions: [.photo])
    #expect(apart.rows.map(\.label) == ["cpu", "gpu:0", "gpu:0, low"])
  }

  @Test("the more exact of two equal precision levels is picked")
  func tiedPrecisions() throws {
    let advice = try advise(cpu: 4e-3, gpu: 1e-3, hasLowPrecision: true, precisions: [.low, .automatic])
    #expect(advice.rows.map(\.label).filter { $0.hasPrefix("gpu") } == ["gpu:0, low", "gpu:0"])
    #expect(advice.picks.map(\.question) == AdviceRequest.Question.allCases)
    for pick in advice.picks {
      #expect(advice.rows[pick.row].label == "gpu:0", "\(pick)")
      #expect(pick.equals.map { advice.rows[$0].label }.contains("gpu:0, low"), "\(pick)")
    }
  }

  @Test("a slower start with faster runs has a break-even number of photos")
  func predictionsToBreakEven() throws {
    // The card's first submission of a session takes half a second: its driver compiles.
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 10e-3 },
        LateDevice(inner: TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 1e-3 }, seconds: 0.5),
      ])
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, loadSeconds: 0.002)
    let candidates = ["cpu", "gpu:0"].map {
      BenchmarkConfiguration(label: $0, request: PlanRequest(units: UnitsSelection($0) ?? .all))
    }
    let advice = try AdviceRunner(
      subject, AdviceRequest(questions: [.photo], envelope: .server), candidates, kelvinVersion: "test",
      machine: .server, clock: clock, files: noFiles
    ).run()
    let crossover = try #require(advice.crossovers.first)
    #expect(crossover.measure == .predictions && crossover.overtaken == 0 && crossover.overtaking == 1)
    let (cpu, gpu) = (advice.rows[0], advice.rows[1])
    let behind = try #require(gpu.firstAnswer) - (try #require(cpu.firstAnswer))
    let gain = try #require(cpu.warm) - (try #require(gpu.warm))
    // At that number of photos the card finishes first; with one photo less it does not.
    let further = crossover.at - 1
    #expect(behind <= further * gain + 1e-9 && behind > (further - 1) * gain - 1e-9, "\(crossover)")
    #expect(crossover.sentence.contains("gpu:0"))
  }

  @Test("skipped configurations are named, and the budget is kept")
  func budget() throws {
    let began = clock.now()
    let advice = try advise(cpu: 1e-3, gpu: 0.5, budget: 60)
    #expect(clock.now() - began < 90, "\(clock.now() - began) s")
    #expect(advice.picks.count == 4)
    #expect(advice.rows[1].firstAnswer == nil && advice.rows[1].stream == nil)
    #expect(
      advice.notes.contains {
        $0.hasPrefix("not tried: gpu:0 for photo, stream and throughput") && $0.contains("an inference 1.50 s")
      }, "\(advice.notes)")
    #expect(advice.picks.allSatisfy { advice.rows[$0.row].label == "cpu" && !$0.isClear })
  }

  @Test("a lost device affects only its own row")
  func aLostDevice() throws {
    let count = Atomic(0)
    let advice = try advise(questions: [.stream]) { count.add(1, ordering: .relaxed).newValue > 60 }
    #expect(advice.rows[1].failure?.contains("the card is gone") == true)
    #expect(advice.picks.allSatisfy { advice.rows[$0.row].label == "cpu" })
    #expect(advice.notes.contains { $0.hasPrefix("gpu:0: ") && $0.contains("the card is gone") })
  }

  @Test("interrupted measurements are not compared")
  func interruption() throws {
    let count = Atomic(0)
    let cancellation = Cancellation()
    let advice = try advise(cpu: 4e-3, gpu: 1e-3, questions: [.photo], cancellation: cancellation) {
      if count.add(1, ordering: .relaxed).newValue == 12 { cancellation.cancel() }
      return false
    }
    #expect(advice.evidence.interruption?.contains("photo") == true)
    for pick in advice.picks {
      #expect(!pick.isClear && pick.equals.isEmpty && advice.rows[pick.row].label == "gpu:0", "\(pick)")
      #expect(pick.answer.contains("not compared (interrupted)"), "\(pick.answer)")
    }
  }

  @Test("without a comparison the more exact of two similar precisions is picked, not the lower median")
  func simplest() throws {
    let count = Atomic(0)
    let cancellation = Cancellation()
    let advice = try advise(
      cpu: 50e-3, gpu: 1e-3, hasLowPrecision: true, precisions: [.low, .automatic], questions: [.photo],
      cancellation: cancellation
    ) {
      if count.add(1, ordering: .relaxed).newValue == 24 { cancellation.cancel() }
      return false
    }
    let pick = try #require(advice.picks.first)
    #expect(pick.answer.contains("not compared (interrupted)"), "\(pick.answer)")
    #expect(advice.rows[pick.row].label == "gpu:0", "\(advice.rows.map { ($0.label, $0.warm) })")
  }

  @Test("units that differ only in throughput are separate rows")
  func mixesForThroughput() throws {
    for (questions, labels) in [
      (Set([AdviceRequest.Question.photo]), ["cpu", "gpu:0"]), ([.photo, .throughput], ["cpu", "gpu:0", "cpu,gpu:0"]),
    ] {
      let context = try chain(
        clock,
        devices: [
          TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 10e-3 },
          TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 8e-3 },
        ])
      let subject = BenchmarkSubject(
        context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, loadSeconds: 0.002)
      let candidates = ["cpu", "gpu:0", "cpu,gpu:0"].map {
        BenchmarkConfiguration(label: $0, request: PlanRequest(units: UnitsSelection($0) ?? .all))
      }
      let advice = try AdviceRunner(
        subject, AdviceRequest(questions: questions, envelope: .server), candidates, kelvinVersion: "test",
        machine: .server, clock: clock, files: noFiles
      ).run()
      #expect(advice.rows.map(\.label) == labels)
      #expect(!advice.evidence.trials.isEmpty)
      // The third row's plan for one photo is that of the card alone, which is measured once and has the star.
      let photo = try #require(advice.picks.first { $0.question == .photo })
      #expect(advice.rows[photo.row].label == "gpu:0" && photo.equals.isEmpty, "\(photo)")
      for row in advice.rows.dropFirst(2) {
        #expect(row.candidate.twin == "gpu:0" && row.warm != nil && row.firstAnswer == nil)
        #expect(advice.notes.contains { $0.hasPrefix("cpu,gpu:0 runs the plan of gpu:0") }, "\(advice.notes)")
      }
    }
  }

  /// The card's frames take 1 ms each, but every twentieth takes 80 ms, longer than the 50 ms between two frames.
  private func stuttering(cpu: Double) throws -> Advice {
    let count = Atomic(0)
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in cpu },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { node in
          guard node.name == "layer 0" else { return 3e-4 }
          return count.add(1, ordering: .relaxed).newValue.isMultiple(of: 20) ? 80e-3 : 4e-4
        },
      ])
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, loadSeconds: 0.002)
    let candidates = ["cpu", "gpu:0"].map {
      BenchmarkConfiguration(label: $0, request: PlanRequest(units: UnitsSelection($0) ?? .all))
    }
    return try AdviceRunner(
      subject, AdviceRequest(questions: [.stream], framesPerSecond: 20, envelope: .server), candidates,
      kelvinVersion: "test", machine: .server, clock: clock, files: noFiles
    ).run()
  }

  @Test("a stream goes to a configuration in time, though another one has the lower median")
  func timely() throws {
    let advice = try stuttering(cpu: 5e-3)
    let (cpu, card) = (try #require(advice.rows[0].stream), try #require(advice.rows[1].stream))
    #expect(card.latency.p50 < cpu.latency.p50 && card.latency.p99 > 0.05 && cpu.latency.p99 < 0.05)
    let pick = try #require(advice.picks.first)
    #expect(advice.rows[pick.row].label == "cpu")
    #expect(pick.answer.hasPrefix("pick cpu, the only one with 99 of 100 frames answered before the next"), "\(pick)")
  }

  @Test("an advice says that no configuration answers a stream in time")
  func late() throws {
    let advice = try stuttering(cpu: 25e-3)
    let pick = try #require(advice.picks.first)
    #expect(pick.answer.contains("no configuration answers 99 of 100 frames before the next arrives"), "\(pick.answer)")
  }

  @Test("the sustained recommendation uses the thermal model of the machine")
  func lasting() throws {
    let advice = try advise(cpu: 12e-3, gpu: 12e-3, questions: [.sustained])
    #expect(advice.picks.map(\.question) == [.sustained])
    let end = try #require(advice.rows[0].lasting?.windows.last?.end)
    #expect(abs(end - 3600) < 1)
    #expect(advice.picks[0].answer.contains("heat"))
    #expect(advice.notes.contains { $0.contains("\"phone\"") && $0.contains("no temperature is measured") })
  }

  @Test("the page begins with the recommendations and a complete table")
  func page() throws {
    let page = try #require(try advise().report())
    let told = try #require(page.advice)
    #expect(told.picks.count == 4)
    #expect(told.rows.allSatisfy { $0.cells.count == told.columns.count })
    #expect(told.rows.map { $0.cells.count(where: \.isPick) }.reduce(0, +) == 4)
    let html = HTMLReport.render(page)
    let (picks, configurations) = (
      try #require(html.firstRange(of: "What to pick")), try #require(html.firstRange(of: "id=\"configurations\""))
    )
    #expect(picks.lowerBound < configurations.lowerBound)
    #expect(!html.contains("<h2>Verdict</h2>"))
  }

  @Test("the table fits a terminal of 80 columns")
  func width() throws {
    let lines = try advise(gpu: 90e-3).lines
    #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines.filter { $0.count > 80 })")
    #expect(lines.contains { $0.hasPrefix("Configuration") && $0.contains("p99") && $0.contains("most/s") })
    #expect(lines.contains { $0.hasPrefix("gpu:0") && $0.contains("lost") })
  }

  @Test("invalid requests are refused with the expected values")
  func refusals() {
    for (request, word) in [
      (AdviceRequest(questions: [], envelope: .server), "a stream"),
      (AdviceRequest(framesPerSecond: 0, envelope: .server), "above 0"),
      (AdviceRequest(horizon: .infinity, envelope: .server), "a day"),
      (AdviceRequest(framesPerSecond: 10_000, horizon: 86_400, envelope: .server), "frames, expected at most"),
      (AdviceRequest(envelope: .server, budget: 1), "a day"),
    ] {
      do throws(BenchmarkError) {
        try request.validate()
        Issue.record("\(request) was taken")
      } catch { #expect(error.description.contains(word), "\(error)") }
    }
  }
}

/// A device on which each session is slow once, while its driver compiles.
private final class LateDevice: Device {
  let inner: TimedDevice
  let seconds: Double
  var info: DeviceInfo { inner.info }
  var health: DeviceHealth { inner.health }

  init(inner: TimedDevice, seconds: Double) {
    self.inner = inner
    self.seconds = seconds
  }

  func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    inner.support(for: node, in: graph, precision: precision)
  }

  func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    inner.clock.advance(by: seconds)
    return try inner.compile(segment)
  }

  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer { try inner.makeBuffer(byteCount: byteCount) }
}
