import FoundationEssentials
import Kelvin
import KelvinMeasuring
import Synchronization
import TestSupport
import Testing

/// The public measuring interface as a program uses it.
@Suite("Public measuring interface") final class MeasurementTests {
  /// The folder of one test, removed with the test.
  private let folder = FileManager.default.temporaryDirectory.appending(path: "kelvin-\(UInt64.random(in: 0 ... .max))")

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static let digits = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage")

  private static func configuration(_ units: ComputeUnits = .cpuOnly) -> ModelConfiguration {
    var configuration = ModelConfiguration(computeUnits: units)
    configuration.usesCache = false
    return configuration
  }

  private func temporaryFile(_ name: String) throws -> URL {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appending(path: name)
  }

  @Test("a profile has the cost of every layer and makes plans measured")
  func profile() async throws {
    var profiler = Profiler(devices: ["cpu", "reference"])
    profiler.budget = .seconds(0.1)
    profiler.keepsMeasurements = false
    let profile = try await profiler.profile(contentsOf: Self.digits, configuration: Self.configuration())
    let plan = try await ComputePlan.load(contentsOf: Self.digits, configuration: Self.configuration())
    #expect(profile.layers.map(\.name) == plan.layers.map(\.name))
    #expect(profile.devices.map(\.device.identifier) == ["cpu", "reference"])
    for layer in profile.layers {
      let cost = try #require(layer.costs["cpu"], "\(layer.name)")
      #expect(cost.median >= .zero && cost.interval.lower <= cost.median && cost.median <= cost.interval.upper)
      #expect(layer.costs["reference"] != nil)
    }
    for run in profile.devices {
      #expect(run.account.total <= run.latency.median * 2)
      #expect(run.latency.minimum <= run.latency.median && run.latency.median <= run.latency.p90)
    }

    let file = try temporaryFile("profile.json")
    try profile.save(to: file)
    var configuration = Self.configuration()
    #expect(plan.layers.allSatisfy { $0.costs.allSatisfy { !$0.isMeasured } })
    configuration.profile = file
    let measured = try await ComputePlan.load(contentsOf: Self.digits, configuration: configuration)
    for layer in measured.layers {
      let cost = try #require(layer.costs.first { $0.device == layer.device })
      #expect(cost.isMeasured, "\(layer.name)")
    }
    #expect(measured.predicted > .zero && measured.predicted != plan.predicted)
    #expect(try profile.htmlReport().contains(profile.layers[0].name))
  }

  @Test("a benchmark measures each configuration, and its plan file can be reused")
  func benchmark() async throws {
    var workload = Benchmark.Workload.oneShot
    workload.starts = 1
    workload.iterations = 12
    workload.coldStarts = 1
    workload.warmTime = .zero
    let benchmark = Benchmark(
      workload: workload,
      configurations: [
        .init(label: "cpu", Self.configuration()), .init(label: "slow", Self.configuration(.devices(["reference"]))),
      ])
    let result = try await benchmark.run(contentsOf: Self.digits)
    #expect(result.configurations.map(\.label) == ["cpu", "slow"])
    #expect(result.configurations[1].devices == ["reference"])
    for measured in result.configurations {
      // Rounds in which others took processor time do not count, and there may be any number of those.
      let latency = try #require(measured.latency)
      #expect(latency.count > 0 && latency.median > .zero && latency.median <= latency.p90)
      #expect(measured.agreement?.top1 == 1)
    }
    #expect(result.verdict.contains("cpu"))
    #expect(result.htmlReport().contains("slow"))
    let trace = try JSONDecoder().decode(TraceDocument.self, from: result.trace())
    #expect(trace.traceEvents.contains { $0.ph == "X" })

    let file = try temporaryFile("plan.json")
    try result.savePlan(to: file)
    var configuration = Self.configuration()
    configuration.plan = file
    let plan = try await ComputePlan.load(contentsOf: Self.digits, configuration: configuration)
    let kept = try #require(result.configurations.first { $0.label == result.winner } ?? result.configurations.first)
    #expect(Set(plan.layers.map(\.device.identifier)) == Set(kept.devices))
  }

  /// Frames of one colour that become brighter, up to a last one.
  private final class CountedFrames: BenchmarkFrames {
    struct Ended: Error {}

    let name = "counted frames"
    /// The numbers of the frames that were read.
    let numbers = Mutex<[Int]>([])
    private let count: Int

    init(count: Int) { self.count = count }

    func next(passingOver skipped: Int) throws -> any FeatureProvider {
      let number = numbers.withLock { numbers in
        numbers.append((numbers.last ?? -1) + 1 + skipped)
        return numbers[numbers.count - 1]
      }
      guard number < count else { throw Ended() }
      let pixels = [UInt8](repeating: UInt8(number % 256), count: 3 * 32 * 32)
      let image = try PixelBuffer(width: 32, height: 32, format: .rgb8, bytes: pixels)
      return DictionaryFeatureProvider(dictionary: ["image": FeatureValue(image: image)])
    }
  }

  private static func stream(_ frames: CountedFrames) async throws -> Benchmark.Result {
    var workload = Benchmark.Workload.stream(framesPerSecond: 50, duration: .seconds(0.5))
    workload.starts = 1
    workload.iterations = 6
    workload.coldStarts = 1
    workload.warmTime = .zero
    let benchmark = Benchmark(workload: workload, configurations: [.init(label: "cpu", configuration())])
    return try await benchmark.run(contentsOf: digits, frames: frames)
  }

  @Test("a stream takes each frame of its source once, in order, and tells the time of reading")
  func framesOfASource() async throws {
    let frames = CountedFrames(count: .max)
    let result = try await Self.stream(frames)
    let numbers = frames.numbers.withLock { $0 }
    #expect(numbers.count > 10 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    #expect(result.notes.contains { $0.contains("the frames of 'counted frames'") })
    #expect(!result.notes.contains { $0.contains("inputs were made up") })
    #expect(String(decoding: try result.json(), as: UTF8.self).contains("\"reading\""))
  }

  @Test("an error of the source is that of the benchmark")
  func endedSource() async throws {
    let error = await #expect(throws: ModelError.self) { _ = try await Self.stream(CountedFrames(count: 8)) }
    #expect(error?.description.contains("Ended") == true)
  }

  private struct TraceDocument: Decodable {
    struct Event: Decodable { var ph: String }
    var traceEvents: [Event]
  }

  @Test("a saved plan places the model as it was saved, and is refused for another model")
  func planFile() async throws {
    let free = try await ComputePlan.load(
      contentsOf: Self.digits, configuration: Self.configuration(.devices(["cpu", "reference"])))
    var pinned = Self.configuration(.devices(["cpu", "reference"]))
    pinned.pins = [free.layers[1].name: "reference"]
    let plan = try await ComputePlan.load(contentsOf: Self.digits, configuration: pinned)
    #expect(plan.layers[1].device.identifier == "reference" && plan.layers[1].usage.reason == "pinned")
    #expect(plan.goal == .latency && plan.isExact && plan.gap == 0)
    let sum =
      plan.layers.reduce(.zero) { sum, layer in
        sum + (layer.costs.first { $0.device == layer.device }?.time ?? .zero)
      } + plan.transfers.reduce(.zero) { $0 + $1.time }
    #expect(abs(sum / plan.predicted - 1) <= 1e-9)

    #expect(plan.htmlReport().contains("runs on reference: "))
    let file = try temporaryFile("plan.json")
    try plan.save(to: file)
    var configuration = Self.configuration(.devices(["cpu", "reference"]))
    configuration.plan = file
    let model = try await Model.load(contentsOf: Self.digits, configuration: configuration)
    #expect(model.computePlan.layers.map(\.device) == plan.layers.map(\.device))
    let other = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx")
    await #expect {
      try await ComputePlan.load(contentsOf: other, configuration: configuration)
    } throws: { error in
      (error as? ModelError)?.code == .parameters && "\(error)".contains("another model")
    }
  }

  @Test("every operation has the cost of its layer on each device")
  func operations() async throws {
    let plan = try await ComputePlan.load(
      contentsOf: Self.digits, configuration: Self.configuration(.devices(["cpu", "reference"])))
    guard case .program(let program) = plan.modelStructure, let main = program.functions["main"] else {
      Issue.record("the model is not an ML Program")
      return
    }
    let placed = main.block.operations.filter { plan.deviceUsage(for: $0) != nil }
    #expect(placed.count > 5)
    for operation in placed {
      let layer = try #require(plan.layer(for: operation))
      #expect(layer.operations.contains(operation.name))
      #expect(layer.costs.count == 2 && layer.costs.allSatisfy { $0.time != nil })
      #expect(plan.deviceUsage(for: operation)?.regret != nil)
    }
    let weights = placed.compactMap { plan.estimatedCost(of: $0)?.weight }
    #expect(abs(weights.reduce(0, +) - 1) < 1e-6)
  }

  @Test("faults are errors of the right kind")
  func faults() async throws {
    func code(_ body: () async throws -> Void) async -> ModelError.Code? {
      do { try await body() } catch { return (error as? ModelError)?.code }
      return nil
    }
    let missing = URL(filePath: "/nowhere.onnx")
    #expect(await code { _ = try await Profiler().profile(contentsOf: missing) } == .io)
    #expect(
      await code { _ = try await Benchmark(workload: .oneShot, units: []).run(contentsOf: Self.digits) } == .parameters)
    #expect(await code { _ = try Benchmark.Workload(named: "no such workload") } == .parameters)
    #expect(await code { _ = try ThermalMonitor(envelope: "no such envelope") } == .io)
    var profiler = Profiler(devices: ["cpu"])
    profiler.budget = .zero
    #expect(await code { _ = try await profiler.profile(contentsOf: Self.digits) } == .parameters)
    profiler = Profiler(devices: ["vulkan:99"])
    #expect(await code { _ = try await profiler.profile(contentsOf: Self.digits) } == .device)
    let bad = try temporaryFile("profile.json")
    try Data("{}".utf8).write(to: bad)
    var configuration = Self.configuration()
    configuration.profile = bad
    #expect(await code { _ = try await ComputePlan.load(contentsOf: Self.digits, configuration: configuration) } == .io)
  }

  @Test("a monitor reads the sensor if there is one and stops with its loop")
  func thermal() async throws {
    let folder = try temporaryFile("sys").deletingLastPathComponent()
    let sensor = folder.appending(path: "sys/class/hwmon/hwmon0")
    try FileManager.default.createDirectory(at: sensor, withIntermediateDirectories: true)
    for (name, text) in [
      ("name", "coretemp"), ("temp1_input", "91000"), ("temp1_crit", "100000"), ("temp1_label", "Package id 0"),
    ] { try Data("\(text)\n".utf8).write(to: sensor.appending(path: name)) }
    let monitor = try ThermalMonitor(envelope: "laptop", root: folder)
    let reading = await monitor.reading()
    #expect(reading.isMeasured && reading.celsius == 91 && reading.source.contains("Package id 0"))
    #expect(reading.headroom > 0.7 && monitor.forecast(after: .zero) == reading.headroom)

    let empty = try ThermalMonitor(envelope: "phone", root: folder.appending(path: "nothing"))
    var looks = 0
    for await reading in empty.readings(every: .milliseconds(100)) {
      #expect(reading.celsius == nil && !reading.isMeasured && reading.source.contains("phone"))
      looks += 1
      if looks == 2 { break }
    }
    #expect(looks == 2)
    for await state in empty.states(every: .milliseconds(100)) {
      #expect(state == empty.thermalState)
      break
    }
  }

  @Test("workloads are given by name, by file or by values")
  func workloads() throws {
    let stream = Benchmark.Workload.stream(framesPerSecond: 12, duration: .seconds(3))
    #expect(stream.kind == .stream && stream.description.contains("12 frames/s for 3 s"))
    #expect(try Benchmark.Workload(named: "throughput") == .throughput())
    let file = URL(filePath: "\(SharedFiles.projectRoot)/Profiles/workloads/one-shot.json")
    #expect(try Benchmark.Workload(contentsOf: file).kind == .oneShot)
  }

  @Test(
    "the examples of the articles are parts of compiled programs",
    arguments: [
      "Kelvin/Kelvin.docc/Articles/ChoosingDevices", "KelvinMeasuring/KelvinMeasuring.docc/Articles/MeasuringAndHeat",
    ])
  func articles(name: String) throws {
    func lines(_ path: String) throws -> [String] {
      let text = try String(contentsOf: URL(filePath: "\(SharedFiles.projectRoot)/\(path)"), encoding: .utf8)
      return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        String(line.drop { $0 == " " })
      }
    }
    let program = try lines("Examples/Measuring/main.swift").joined(separator: "\n")
    let article = try lines("Sources/\(name).md")
    var blocks: [[String]] = []
    var isOpen = false
    for line in article {
      if line.hasPrefix("```") {
        isOpen = line == "```swift"
        if isOpen { blocks.append([]) }
      } else if isOpen {
        blocks[blocks.count - 1].append(line)
      }
    }
    #expect(blocks.count >= 2)
    for block in blocks { #expect(program.contains(block.joined(separator: "\n")), "\(block.first ?? "")") }
  }
}
