import FoundationEssentials
import KelvinBench
import KelvinDevices
import KelvinMeasurements
import KelvinReport
import KelvinRuntime
import KelvinThermal
import TestSupport
import Testing

struct TokenBenchTests {
  private let clock = VirtualClock()

  /// Takes a millisecond and ten microseconds for each token before it, and is slower in its first sequence.
  private final class Reader: TokenReader {
    private let clock: VirtualClock
    private let scale: Double
    private var length = 0
    private var sequences = 0
    private(set) var specializationCounts = SpecializationCounts()

    init(_ clock: VirtualClock, scale: Double) {
      self.clock = clock
      self.scale = scale
    }

    func prompt(of count: Int) -> [Int] { Array(repeating: 7, count: count) }

    func next(after tokens: [Int]) -> Int {
      if length == 0 {
        sequences += 1
        specializationCounts.compilations += 1
        specializationCounts.plans += sequences == 1 ? 1 : 0
      }
      clock.advance(by: (1e-3 + 1e-5 * Double(length)) * scale * (sequences == 1 ? 2 : 1))
      length += tokens.count
      return 7
    }

    func restart() { length = 0 }

    var memory: String { "a list in the test" }
  }

  private func run(_ workload: Workload, keep: @escaping (Data) -> Void = { _ in }) throws -> BenchmarkResult {
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 2e-3 },
      ])
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true,
      tokenReader: { [clock] configuration, _, _ in Reader(clock, scale: configuration.label == "cpu" ? 1 : 3) })
    var options = BenchmarkOptions()
    options.keep = keep
    let configurations = ["cpu", "gpu:0"].map {
      BenchmarkConfiguration(label: $0, request: PlanRequest(units: UnitsSelection($0) ?? .all))
    }
    return try BenchmarkRunner(
      subject, workload, configurations, options: options, kelvinVersion: "test", envelope: .server, clock: clock,
      files: noFiles
    ).run()
  }

  private let workload = Workload(
    name: "test", kind: .tokens, coldStarts: 1, starts: 6, duration: 0.5, prompt: 4, tokens: 21)

  @Test func tokenTimeIsLinearInThePrecedingTokens() throws {
    let tokens = try #require(try run(workload).configurations[0].tokens)
    let line = try #require(tokens.line)
    // The token behind the first one has five before it, of which the last is the one that is read.
    #expect(abs(line.slope - 1e-5) < 1e-12 && abs(line.value(at: 5) - (1e-3 + 4e-5)) < 1e-12 && line.residual < 1e-9)
    #expect(tokens.stretches.first?.from == 5 && tokens.stretches.last?.to == 24)
    let sustained = try #require(tokens.sustained)
    #expect(abs(sustained.firstToken - 1e-3) < 1e-12 && abs(tokens.oneShot.firstToken - 2e-3) < 1e-12)
    #expect(abs(sustained.rate / tokens.oneShot.rate - 2) < 1e-9)
    #expect(tokens.oneShot.promptCounts == SpecializationCounts(plans: 1, compilations: 1))
    #expect(tokens.oneShot.counts == SpecializationCounts() && sustained.counts == SpecializationCounts())
    #expect(sustained.promptCounts == SpecializationCounts(plans: 0, compilations: sustained.sequences))
  }

  @Test func configurationWithMoreTokensWins() throws {
    let result = try run(workload)
    #expect(result.verdict.winner == 0)
    #expect(result.verdict.text.contains("Tokens one after another: pick cpu"), "\(result.verdict.text)")
    #expect(result.verdict.text.contains("more tokens than the next, gpu:0"))
    #expect(result.verdict.text.contains("Starting: "))
    #expect(result.configurations[0].warm == nil)
  }

  @Test func tableDocumentAndPageAgree() throws {
    var journal = Data()
    let result = try run(workload) { journal += $0 }
    let lines = result.lines.joined(separator: "\n")
    #expect(lines.contains("Tokens of 'cpu'") && lines.contains("behind 5 to 7 tokens"), "\(lines)")
    #expect(lines.contains("it remembers in: a list in the test"))
    let page = HTMLReport.render(result.report())
    #expect(
      page.contains("id=\"tokens\"") && page.contains("behind 5 to 7 tokens") && page.contains("a list in the test"))
    let again = BenchmarkResult(try BenchmarkJournal.read(journal))
    #expect(try again.json() == result.json() && again.lines == result.lines)
    #expect(HTMLReport.render(again.report()) == page)
  }

  @Test func nonTokenModelFailsWithTheReason() throws {
    let context = try chain(clock, devices: [TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 }])
    let subject = BenchmarkSubject(context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true)
    let runner = try BenchmarkRunner(
      subject, workload, [.init(label: "cpu", request: PlanRequest(units: .all))], kelvinVersion: "test",
      envelope: .server, clock: clock, files: noFiles)
    let error = #expect(throws: BenchmarkError.self) { _ = try runner.run() }
    #expect(error?.description.contains("takes no tokens") == true)
  }
}
