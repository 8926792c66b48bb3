import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Synchronization
import Testing

/// Computes as the reference does and counts the memory that is asked for.
private final class CountingDevice: Device {
  let info = DeviceInfo(
    id: "counting", name: "counting", kind: .discreteGPU, driver: "test", version: "1", memory: 1 << 20,
    resource: "card")
  private let reference = ReferenceDevice()
  private let log = Mutex<[Int]>([])
  private let largest: Int

  init(largest: Int = .max) { self.largest = largest }

  /// The sizes of all buffers made, in their order.
  var made: [Int] { log.withLock { $0 } }

  func support(for node: Node, in graph: Graph, precision: Precision) -> Support { .supported }
  func compile(_ segment: Segment) throws(DeviceError) -> any Executable { try reference.compile(segment) }

  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    guard byteCount <= largest else {
      throw DeviceError(.outOfMemory, device: info.id, place: "buffer", reason: "\(byteCount) bytes")
    }
    if byteCount > bufferAlignment { log.withLock { $0.append(byteCount) } }
    return try HostBuffer(byteCount: byteCount)
  }
}

@Suite struct SessionMemoryTests {
  /// One node on the device, so many elements in and out.
  private func model(_ size: Int, on device: CountingDevice) throws -> CompiledModel {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let x = try builder.input("x", TensorType(.float32, [size]))
    builder.output(
      try builder.add(
        Unary(UnaryFunction(.abs)), x, name: "y", origin: Origin(name: "y", kind: "Test", index: 0)))
    let graph = try builder.finish()
    let inventory = DeviceInventory([DeviceListing(device), DeviceListing(ReferenceDevice())])
    let request = PlanRequest(
      units: .devices(["counting", "reference"]), precision: .full, threads: 1, pins: ["y": "counting"])
    let solution = try Planner(inventory: inventory, costs: CostSheet()).problem(graph, request).solve()
    return try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: inventory, precision: .full,
      threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
  }

  private func session(_ size: Int, on device: CountingDevice, _ memory: SessionMemory) throws -> Session {
    try model(size, on: device).makeSession(memory: memory)
  }

  @Test func aSizeThatFitsAsksForNoMemory() throws {
    let (device, memory) = (CountingDevice(), SessionMemory())
    var sessions = [try session(1000, on: device, memory)]
    let first = device.made
    #expect(!first.isEmpty)
    sessions.append(try session(2500, on: device, memory))
    let grown = device.made
    #expect(grown.count > first.count)
    for size in [900, 3000, 2600, 64, 4000] { sessions.append(try session(size, on: device, memory)) }
    #expect(device.made == grown, "sizes up to the next power of two fit")
    for (session, size) in zip(sessions, [1000, 2500, 900, 3000, 2600, 64, 4000]) {
      let output = try session.run([Tensor([Float](repeating: -2, count: size), [size])])[0]
      #expect(output.floats == [Float](repeating: 2, count: size))
    }
  }

  @Test func memoryThatCannotGrowByAPowerOfTwoGrowsByWhatIsNeeded() throws {
    let needed = try {
      let device = CountingDevice()
      _ = try session(2500, on: device, SessionMemory())
      return try #require(device.made.max())
    }()
    let (device, memory) = (CountingDevice(largest: needed), SessionMemory())
    _ = try session(1000, on: device, memory)
    _ = try session(2500, on: device, memory)
    #expect(device.made.last == needed)
  }
}
