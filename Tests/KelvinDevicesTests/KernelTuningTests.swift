import KelvinDevices
import KelvinGraph
import Synchronization
import Testing

struct KernelTuningTests {
  @Test func theFastestIsTakenAndRemembered() throws {
    let blobs = KeptBlobs()
    #expect(try tuned(blobs, ["slow": 3, "middling": 2, "fast": 1]).kernel == "fast")
    #expect(try tuned(blobs, ["slow": 3, "middling": 2, "fast": 1]).timings == 0)
    // What was found out is not asked again, whatever the times are now.
    #expect(try tuned(blobs, ["slow": 1, "middling": 2, "fast": 3]).kernel == "fast")
  }

  @Test func anotherKernelHasToBeClearlyFaster() throws {
    #expect(try tuned(KeptBlobs(), ["slow": 1, "middling": 0.97, "fast": 0.95]).kernel == "slow")
  }

  @Test func nothingIsTimedWhereResultsMustRepeatOrNothingIsKept() throws {
    let times = ["slow": 3.0, "middling": 2, "fast": 1]
    let deterministic = try tuned(KeptBlobs(), times, isDeterministic: true)
    #expect(deterministic.kernel == "slow" && deterministic.timings == 0)
    let forgetful = try tuned(NoBlobCache(), times)
    #expect(forgetful.kernel == "slow" && forgetful.timings == 0)
  }

  @Test(arguments: [Array("no such kernel".utf8), [], [0xff, 0xfe]])
  func aDamagedAnswerIsAsGoodAsNone(_ bytes: [UInt8]) throws {
    let blobs = KeptBlobs()
    let times = ["slow": 3.0, "middling": 2, "fast": 1]
    _ = try tuned(blobs, times)
    blobs.replaceAll(by: bytes)
    #expect(try tuned(blobs, times).kernel == "fast")
  }

  @Test func anotherThreadCountIsAnotherQuestion() throws {
    let blobs = KeptBlobs()
    _ = try tuned(blobs, ["slow": 3, "middling": 2, "fast": 1])
    #expect(try tuned(blobs, ["slow": 1, "middling": 2, "fast": 3], threads: 2).kernel == "slow")
  }

  /// The kernel taken for one node, and how many were timed.
  private func tuned(
    _ blobs: any BlobCache, _ times: [String: Double], threads: Int = 1, isDeterministic: Bool = false
  ) throws -> (kernel: String, timings: Int) {
    var graph = Graph()
    let x = graph.addValue(Value(name: "x", type: TensorType(.float32, [4])))
    let y = graph.addValue(Value(name: "y", type: TensorType(.float32, [4])))
    graph.nodes = [Node(name: "node", op: Unary(.relu), inputs: [x], outputs: [y], origins: [])]
    (graph.inputs, graph.outputs) = ([x], [y])
    var offer = KernelOffer("slow")
    offer.alternatives = [.init("second", "middling"), .init("third", "fast")]
    var selection = KernelSelection(ExpandedGraph(graph) { _, _ in nil }, [[offer]])
    let segment = Segment(
      graph: graph, precision: .full, threads: threads, isDeterministic: isDeterministic,
      weights: MemoryPackedWeights(), blobs: blobs)
    let device = DeviceInfo(
      id: "test:0", name: "Test", kind: .null, driver: "none", version: "1", memory: 0, resource: "test:0")
    var timings = 0
    try selection.tune(for: segment, on: device) { (_, kernel) throws(DeviceError) in
      timings += 1
      return times[kernel] ?? 0
    }
    return (selection.offers[0].kernel, timings)
  }
}

private final class KeptBlobs: BlobCache {
  private let blobs = Mutex<[String: Bytes]>([:])

  func blob(_ key: String) -> Bytes? { blobs.withLock { $0[key] } }
  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    let copy = Bytes(Array(bytes))
    blobs.withLock { $0[key] = copy }
  }
  func replaceAll(by bytes: [UInt8]) {
    blobs.withLock { blobs in for key in blobs.keys { blobs[key] = Bytes(bytes) } }
  }
}
