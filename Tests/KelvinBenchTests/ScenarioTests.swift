import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinProfiler
import KelvinReference
import KelvinRuntime
import KelvinThermal
import TestSupport
import Testing

struct ScenarioTests {
  private let clock = VirtualClock()

  private func context(cpu: Double = 1e-3, gpu: Double = 2e-3) throws -> ModelContext {
    try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in cpu },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in gpu },
      ])
  }

  private func workload(reserve: [String: Double] = [:], coload: [String: Double] = [:]) -> Workload {
    Workload(
      name: "test", kind: .oneShot, coldStarts: 0, starts: 6, iterations: 12, warmSeconds: 0, reserve: reserve,
      coload: coload)
  }

  @Test func backgroundLoadScalesTheCosts() throws {
    let context = try context()
    let problem = try context.planner.problem(context.graph, PlanRequest(units: .devices(["cpu", "gpu:0"])))
    let scenario = try Scenario(
      workload(reserve: ["cpu": 0.25], coload: ["cpu": 0.25, "gpu:0": 0.8]), context.inventory)
    let applied = try scenario.applied(to: problem)
    for (before, after) in zip(problem.nodes, applied.nodes) {
      #expect(abs((after.seconds["cpu"] ?? 0) - 2 * (before.seconds["cpu"] ?? 0)) < 1e-12)
      #expect(abs((after.seconds["gpu:0"] ?? 0) - 5 * (before.seconds["gpu:0"] ?? 0)) < 1e-12)
    }
    #expect(applied.transfers == problem.transfers)
    #expect(try Scenario(workload(), context.inventory).isIdle)
    #expect(throws: RuntimeError.self) { try Scenario(workload(coload: ["gpu:7": 0.1]), context.inventory) }
  }

  @Test func cpuLoadSlowsSoftwareDrivers() throws {
    let software = DeviceListing(
      TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1 })
    let inventory = DeviceInventory([software, DeviceListing(ReferenceDevice())])
    let scenario = try Scenario(workload(coload: ["cpu": 0.5]), inventory)
    #expect(scenario.slowdown("cpu") == 2)
    #expect(scenario.slowdown("another card") == 1)
  }

  @Test func reservingFreesThreadsAndThenTime() throws {
    let inventory = try context().inventory
    let half = try Scenario(workload(reserve: ["cpu": 0.5]), inventory)
    #expect(half.threads(of: 8) == 4)
    #expect(half.threads(of: 2) == 1)
    // Half of the processors' threads are half of the processors, so there is nothing to wait for.
    #expect(half.rest(busy: ["cpu": 1], threads: 4, cores: 8) == 0)
    let most = try Scenario(workload(reserve: ["cpu": 0.75]), inventory)
    // One thread of two processors for all of the time is 0.5; a quarter is allowed, so it idles as long as it works.
    #expect(abs(most.rest(busy: ["cpu": 1], threads: most.threads(of: 2), cores: 2) - 1) < 1e-12)
    let card = try Scenario(workload(reserve: ["gpu:0": 0.5]), inventory)
    #expect(abs(card.rest(busy: ["gpu:0": 0.8, "cpu": 0.2], threads: 2, cores: 2) - 0.6) < 1e-12)
    #expect(card.rest(busy: ["gpu:0": 0.4], threads: 2, cores: 2) == 0)
  }

  @Test func verdictNamesTheBackgroundLoad() throws {
    let context = try context()
    let subject = BenchmarkSubject(context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true)
    let result = try BenchmarkRunner(
      subject, workload(coload: ["cpu": 0.3]), [.init(label: "cpu", request: PlanRequest(units: .devices(["cpu"])))],
      kelvinVersion: "test", envelope: .server, clock: clock, files: noFiles
    ).run()
    #expect(result.verdict.text.contains("with 30 % of cpu used by others"))
    #expect(result.notes.contains { $0.contains("30 % of cpu used by others") })
    #expect(result.workload.description.contains("30 % of cpu used by others"))
  }

  @Test func reservedDeviceIsBusyOnlyForItsShare() throws {
    let context = try context(gpu: 4e-3)
    let subject = BenchmarkSubject(context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true)
    var half = workload(reserve: ["gpu:0": 0.5])
    half.kind = .throughput
    half.duration = 3
    half.inFlight = 1
    let result = try BenchmarkRunner(
      subject, half, [.init(label: "gpu:0", request: PlanRequest(units: .devices(["gpu:0"])))], kelvinVersion: "test",
      envelope: .server, clock: clock, files: noFiles
    ).run()
    let sustained = try #require(result.configurations[0].sustained)
    // Three nodes of 4 ms: 83 a second, and half of that when the card is to be free for half of the time.
    let share = sustained.throughput * 12e-3
    #expect(share <= 0.5 + 1e-6 && share > 0.4, "\(share)")
  }

  @Test func aSyntheticLoadWorksUntilItIsStopped() throws {
    let inventory = DeviceInventory([
      DeviceListing(TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-6 }),
      DeviceListing(TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in 1e-6 }),
    ])
    let load = try SyntheticLoad(CoLoad(shares: ["cpu": 0.2, "gpu:0": 0.2]), inventory, processors: 1)
    #expect(load.count == 0)
    load.start()
    while load.count < 4 {}
    load.stop()
    let count = load.count
    load.stop()
    #expect(load.count == count)
    #expect(load.failure == nil)
    // The load reports the processor time that it used, so that it is not attributed to others.
    #expect(load.processorSeconds > 0)
    #expect(throws: RuntimeError.self) { try SyntheticLoad(CoLoad(shares: ["gpu:9": 0.5]), inventory, processors: 1) }
  }

  @Test func loadIsWrittenTheWayItIsRead() throws {
    var load = CoLoad()
    for (name, text) in [("cpu", "0.3"), ("memory", "2GB/s"), ("cache", "16MB")] {
      #expect(load.set(name, to: text) == nil)
    }
    #expect(load == CoLoad(shares: ["cpu": 0.3], memoryBytesPerSecond: 2e9, cacheBytes: 16_000_000))
    var copy = CoLoad()
    for item in load.items { #expect(copy.set(item.name, to: item.text) == nil) }
    #expect(copy == load)
    for (name, text) in [("cpu", "much"), ("memory", "2GB"), ("memory", "nanGB/s"), ("cache", "16"), ("cache", "2TB")] {
      #expect(load.set(name, to: text) != nil, "\(name)=\(text)")
    }
    let inventory = DeviceInventory([DeviceListing(TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-6 })])
    let work = try SyntheticLoad(CoLoad(memoryBytesPerSecond: 1e8), inventory, processors: 1)
    work.start()
    while work.count < 4 {}
    work.stop()
    let account = try #require(work.account)
    #expect(account.memoryBytes > 1e6 && account.userSeconds + account.kernelSeconds > 0 && !account.isProcess)
    let whole = account.ofWholeProcess
    #expect(whole.isProcess && whole.userSeconds + whole.kernelSeconds >= account.userSeconds + account.kernelSeconds)
    #expect(account.description.contains("threads of this process") && account.description.contains("GB/s to and from"))
  }

  /// A background load that only records its requests.
  private final class Diary: BackgroundLoad {
    var events: [String] = []
    func start() { events.append("start") }
    func stop() {
      if events.last != "stop" { events.append("stop") }
      account = .init(
        isProcess: true, seconds: 10, userSeconds: 3, kernelSeconds: 0.03, memoryBytes: 0, failure: nil)
    }
    func pause() { events.append("pause") }
    func resume() { if events.last != "resume" { events.append("resume") } }
    let ownProcessorSeconds = 0.0
    let processes: [Int32] = []
    private(set) var account: BackgroundLoadUsage?
  }

  @Test func backgroundProcessIsPausedAndReported() throws {
    let context = try context()
    let subject = BenchmarkSubject(context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true)
    var stream = workload(coload: ["cpu": 0.3])
    (stream.kind, stream.duration) = (.stream, 1)
    let diary = Diary()
    var options = BenchmarkOptions()
    options.backgroundLoad = { load in
      #expect(load == CoLoad(shares: ["cpu": 0.3]))
      return diary
    }
    let result = try BenchmarkRunner(
      subject, stream, [.init(label: "cpu", request: PlanRequest(units: .devices(["cpu"])))], options: options,
      kelvinVersion: "test", envelope: .server, clock: clock, files: noFiles
    ).run()
    #expect(diary.events.first == "start" && diary.events.last == "stop")
    #expect(diary.events.count { $0 == "pause" } == diary.events.count { $0 == "resume" })
    #expect(diary.events.contains("pause"))
    #expect(
      result.notes.contains(
        "the background load was a separate process: 3.03 s of processor time in 10.0 s, 1 % of it in the kernel"))
    #expect(result.notes.contains { $0.contains("the background load's processor time is not the model's") })
  }
}
