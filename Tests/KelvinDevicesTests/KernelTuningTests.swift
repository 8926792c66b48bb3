import KelvinDevices
import KelvinGraph
import Synchronization
import Testing

struct KernelTuningTests {
  private static let times = ["slow": 3.0, "middling": 2, "fast": 1]

  @Test func fastestKernelIsChosenAndRemembered() throws {
    let blobs = KeptBlobs()
    #expect(try Tuned(blobs, Self.times).kernels == ["fast"])
    let later = try Tuned(blobs, ["slow": 1, "middling": 2, "fast": 3])
    #expect(later.kernels == ["fast"], "what was found out is not asked again, whatever the times are now")
    #expect(later.timed.isEmpty)
  }

  @Test func kernelNameShowsTheChoice() throws {
    #expect(try Tuned(KeptBlobs(), Self.times).names == ["node0": "dense third"])
    #expect(try Tuned(NoBlobCache(), Self.times).names == ["node0": "dense first"])
  }

  @Test func alternativeMustBeClearlyFaster() throws {
    #expect(try Tuned(KeptBlobs(), ["slow": 1, "middling": 0.97, "fast": 0.95]).kernels == ["slow"])
  }

  @Test func deterministicOrUncachedRunsTimeNothing() throws {
    for tuned in [
      try Tuned(KeptBlobs(), Self.times, isDeterministic: true), try Tuned(NoBlobCache(), Self.times),
      try Tuned(KeptBlobs(), Self.times, KernelTuning(.off)),
    ] {
      #expect(tuned.kernels == ["slow"])
      #expect(tuned.timed.isEmpty)
    }
  }

  @Test func deterministicRunsIgnoreStoredChoices() throws {
    let blobs = KeptBlobs()
    _ = try Tuned(blobs, Self.times)
    #expect(try Tuned(blobs, Self.times, isDeterministic: true).kernels == ["slow"])
    #expect(try Tuned(blobs, Self.times, KernelTuning(.off)).kernels == ["slow"])
  }

  @Test(arguments: [Array("no such kernel".utf8), [], [0xff, 0xfe]])
  func damagedChoiceIsTimedAgain(_ bytes: [UInt8]) throws {
    let blobs = KeptBlobs()
    _ = try Tuned(blobs, Self.times)
    blobs.replaceAll(by: bytes)
    #expect(try Tuned(blobs, Self.times).kernels == ["fast"])
  }

  @Test func choicesAreKeyedByDeviceDriverAndBuild() throws {
    let blobs = KeptBlobs()
    _ = try Tuned(blobs, Self.times)
    let now = ["slow": 1.0, "middling": 2, "fast": 3]
    #expect(try Tuned(blobs, now, device: .named(driver: "newer")).kernels == ["slow"])
    #expect(try Tuned(blobs, now, device: .named("test:1")).kernels == ["slow"])
    #expect(try Tuned(blobs, now, build: "other").kernels == ["slow"])
    #expect(try Tuned(blobs, now, threads: 2).kernels == ["fast"], "no device that times uses them")
  }

  @Test func softwareDriversTimeOnlyOnRequest() throws {
    let (blobs, driver) = (KeptBlobs(), DeviceInfo.named(kind: .software))
    #expect(try Tuned(blobs, Self.times, device: driver).timed.isEmpty)
    #expect(try Tuned(blobs, Self.times, KernelTuning(.exhaustive), device: driver).kernels == ["fast"])
    let later = try Tuned(blobs, Self.times, device: driver)
    #expect(later.kernels == ["fast"])
    #expect(later.timed.isEmpty)
  }

  @Test func equalNodesAreTimedOnce() throws {
    let tuned = try Tuned(KeptBlobs(), Self.times, sizes: [4, 4, 4])
    #expect(tuned.kernels == ["fast", "fast", "fast"])
    #expect(Set(tuned.timed) == ["node0"])
  }

  @Test func unfinishedTuningContinuesOnTheNextLoad() throws {
    let (blobs, sizes) = (KeptBlobs(), [8, 32, 16])
    func next() throws -> Tuned {
      let clock = FakeClock()
      return try Tuned(
        blobs, Self.times, KernelTuning(.automatic, allowance: 6.5, clock: { clock.now }), sizes: sizes, clock: clock)
    }
    let first = try next()
    #expect(first.kernels == ["slow", "fast", "slow"], "the node with the most operations comes first")
    #expect(first.timed.count == 6, "one run each to see the numbers, and one round")
    #expect(try next().kernels == ["slow", "fast", "fast"])
    #expect(try next().kernels == ["fast", "fast", "fast"])
    #expect(try next().timed.isEmpty)
  }

  @Test func tuningTimeIsSharedByAllSegments() throws {
    let clock = FakeClock()
    let tuning = KernelTuning(.automatic, allowance: 6.5, clock: { clock.now })
    #expect(try Tuned(KeptBlobs(), Self.times, tuning, clock: clock).kernels == ["fast"])
    #expect(try Tuned(KeptBlobs(), Self.times, tuning, clock: clock).timed.isEmpty)
  }

  @Test func alternativesAfterTheTimeLimitAreSkipped() throws {
    let (blobs, clock) = (KeptBlobs(), FakeClock())
    let tuning = KernelTuning(.automatic, allowance: 4, clock: { clock.now })
    #expect(try Tuned(blobs, Self.times, tuning, clock: clock).kernels == ["middling"])
    let later = try Tuned(blobs, Self.times)
    #expect(later.kernels == ["middling"], "loading goes on to other nodes instead of trying this one again")
    #expect(later.timed.isEmpty)
  }

  @Test func laterCompilationTimesOnlyOnRequest() throws {
    let blobs = KeptBlobs()
    #expect(try Tuned(blobs, Self.times, KernelTuning().afterLoading).timed.isEmpty)
    #expect(try Tuned(blobs, Self.times, KernelTuning(.exhaustive).afterLoading).kernels == ["fast"])
    #expect(try Tuned(blobs, Self.times, KernelTuning().afterLoading).kernels == ["fast"])
    #expect(try Tuned(blobs, Self.times, KernelTuning(.off).afterLoading).kernels == ["slow"])
  }

  @Test(arguments: [DeviceError.Code.compilation, .outOfMemory, .execution, .unsupported])
  func failingAlternativeIsDropped(_ code: DeviceError.Code) throws {
    #expect(try Tuned(KeptBlobs(), Self.times, faults: ["fast": code]).kernels == ["middling"])
    let blobs = KeptBlobs()
    #expect(try Tuned(blobs, Self.times, faults: ["slow": code]).kernels == ["slow"])
    #expect(try Tuned(blobs, Self.times).timed.isEmpty, "what compiles alone in no way is not tried at every loading")
  }

  @Test func alternativeWithOtherResultsIsDropped() throws {
    #expect(try Tuned(KeptBlobs(), Self.times, strangers: ["fast"]).kernels == ["middling"])
  }

  @Test func alternativeThatLosesTheDeviceIsNotRetried() throws {
    let blobs = KeptBlobs()
    #expect { try Tuned(blobs, Self.times, faults: ["fast": .lost]) } throws: { ($0 as? DeviceError)?.code == .lost }
    let later = try Tuned(blobs, Self.times, faults: ["fast": .lost])
    #expect(later.kernels == ["slow"])
    #expect(later.timed.isEmpty)
  }

  @Test func cancelledTuningKeepsItsChoices() throws {
    let blobs = KeptBlobs()
    #expect {
      try Tuned(blobs, Self.times, sizes: [4, 8], goesOn: { $0.count <= 18 })
    } throws: { ($0 as? DeviceError)?.code == .cancelled }
    let later = try Tuned(blobs, Self.times, sizes: [4, 8])
    #expect(later.kernels == ["fast", "fast"])
    #expect(Set(later.timed) == ["node0"])
  }
}

/// The result of a tuning.
private struct Tuned {
  /// Taken, by node.
  let kernels: [String]
  let names: [String: String]
  /// The nodes of the kernels that were run, one after another.
  let timed: [String]

  /// - Parameters:
  ///   - times: the time of a run, by kernel.
  ///   - sizes: the sizes of the nodes, which compute the same.
  ///   - faults: faults of kernels when they are prepared.
  ///   - strangers: kernels with different results.
  ///   - clock: advances with each run.
  ///   - goesOn: called with the nodes of the kernels that were run.
  init(
    _ blobs: any BlobCache, _ times: [String: Double], _ tuning: KernelTuning = KernelTuning(), threads: Int = 1,
    isDeterministic: Bool = false, device: DeviceInfo = .named(), build: String = "kernels", sizes: [Int] = [4],
    faults: [String: DeviceError.Code] = [:], strangers: Set<String> = [], clock: FakeClock? = nil,
    goesOn: @escaping @Sendable ([String]) -> Bool = { _ in true }
  ) throws {
    var graph = Graph()
    for (index, size) in sizes.enumerated() {
      let x = graph.addValue(Value(name: "x\(index)", type: TensorType(.float32, [size])))
      let y = graph.addValue(Value(name: "y\(index)", type: TensorType(.float32, [size])))
      graph.nodes.append(Node(name: "node\(index)", op: Unary(.relu), inputs: [x], outputs: [y], origins: []))
      graph.inputs.append(x)
      graph.outputs.append(y)
    }
    let offer = KernelOffer("slow").with([.init("second", "middling"), .init("third", "fast")], beside: "first")
    var selection = KernelSelection(ExpandedGraph(graph) { _, _ in nil }, sizes.map { _ in [offer] })
    let log = RunLog()
    let segment = Segment(
      graph: graph, precision: .full, threads: threads, isDeterministic: isDeterministic,
      weights: MemoryPackedWeights(), blobs: blobs, tuning: tuning, goesOn: { _ in goesOn(log.nodes.withLock { $0 }) })
    try selection.tune(for: segment, on: device, kernels: build) { (one, alone) throws(DeviceError) in
      let kernel = one.offers[0].kernel
      #expect(alone.graph.nodes.count == 1)
      if let code = faults[kernel] { throw DeviceError(code, device: device.id, place: kernel, reason: "") }
      return FakeTrial(
        node: alone.graph.nodes[0].name, time: times[kernel] ?? 0,
        digest: Digest(strangers.contains(kernel) ? "other" : ""), log: log, clock: clock)
    }
    kernels = selection.offers.map(\.kernel)
    names = selection.names
    timed = log.nodes.withLock { $0 }
  }
}

private final class RunLog: Sendable {
  let nodes = Mutex<[String]>([])
}

private final class FakeClock: Sendable {
  private let seconds = Mutex(0.0)
  var now: Double { seconds.withLock { $0 } }
  func advance(by time: Double) { seconds.withLock { $0 += time } }
}

private struct FakeTrial: KernelTrial {
  let node: String
  let time: Double
  let digest: Digest
  let log: RunLog
  let clock: FakeClock?

  func seconds() -> Double {
    clock?.advance(by: time)
    log.nodes.withLock { $0.append(node) }
    return time
  }

  func results() -> Digest { digest }
}

extension DeviceInfo {
  fileprivate static func named(
    _ id: String = "test:0", kind: Kind = .discreteGPU, driver: String = "none"
  ) -> DeviceInfo {
    DeviceInfo(id: id, name: "Test", kind: kind, driver: driver, version: "1", memory: 0, resource: id)
  }
}

private final class KeptBlobs: BlobCache {
  private let blobs = Mutex<[String: Bytes]>([:])

  func blob(_ key: String) -> Bytes? { blobs.withLock { $0[key] } }
  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    let copy = Bytes(copying: bytes)
    blobs.withLock { $0[key] = copy }
  }
  func replaceAll(by bytes: [UInt8]) {
    blobs.withLock { blobs in for key in blobs.keys { blobs[key] = Bytes(bytes) } }
  }
}
