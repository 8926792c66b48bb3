import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Synchronization
import Testing

/// Computes as the reference does and counts the memory that is asked for.
private final class CountingDevice: Device {
  let info: DeviceInfo
  let health = DeviceHealth()
  private let reference = ReferenceDevice()
  private let log = Mutex<[Int]>([])
  private let scratches = Mutex<[Int]>([])
  private let largest, scratch: Int

  /// - Parameter scratch: bytes that what it compiles asks for.
  init(_ kind: DeviceInfo.Kind, largest: Int = .max, scratch: Int = 0) {
    self.largest = largest
    self.scratch = scratch
    info = DeviceInfo(
      id: "counting", name: "counting", kind: kind, driver: "test", version: "1", memory: 1 << 20, resource: "counting")
  }

  /// The sizes of all buffers made, in their order.
  var made: [Int] { log.withLock { $0 } }
  /// The same of scratch.
  var madeScratch: [Int] { scratches.withLock { $0 } }

  func support(for node: Node, in graph: Graph, precision: Precision) -> Support { .supported }
  func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    ScratchExecutable(inner: try reference.compile(segment), scratchByteCount: scratch)
  }

  func makeScratch(byteCount: Int) throws(DeviceError) -> any Buffer {
    scratches.withLock { $0.append(byteCount) }
    return try HostBuffer(byteCount: byteCount)
  }

  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    guard byteCount <= largest else {
      throw DeviceError(.outOfMemory, device: info.id, place: "buffer", reason: "\(byteCount) bytes")
    }
    if byteCount > bufferAlignment { log.withLock { $0.append(byteCount) } }
    return try HostBuffer(byteCount: byteCount)
  }
}

private final class ScratchExecutable: Executable {
  private let inner: any Executable
  let scratchByteCount: Int

  init(inner: any Executable, scratchByteCount: Int) { (self.inner, self.scratchByteCount) = (inner, scratchByteCount) }

  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation { try inner.bind(bindings) }
}

@Suite struct ExecutionContextTests {
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

  private func session(_ size: Int, on device: CountingDevice, _ context: ExecutionContext) throws -> Session {
    try model(size, on: device).makeSession(in: context)
  }

  @Test func scratchIsAllocatedAsScratch() throws {
    let device = CountingDevice(.integratedGPU, scratch: 3000)
    _ = try session(1000, on: device, ExecutionContext())
    #expect(device.madeScratch == [3000])
    #expect(!device.made.contains(3000))
  }

  /// Sizes that rise step by step, and others between them.
  @Test(arguments: [
    (DeviceInfo.Kind.cpu, [10_000, 10_400, 12_000, 15_000, 16_000, 14_000, 64]),
    (.discreteGPU, [10_000, 10_100, 10_500, 11_000, 10_400, 64]),
  ])
  func fittingSizeAllocatesNoMemory(kind: DeviceInfo.Kind, sizes: [Int]) throws {
    let (device, context) = (CountingDevice(kind), ExecutionContext())
    var sessions = try sizes[..<2].map { try session($0, on: device, context) }
    let grown = device.made
    #expect(grown.count == 2)
    sessions += try sizes[2...].map { try session($0, on: device, context) }
    #expect(device.made == grown && context.byteCount == grown.last)
    for (session, size) in zip(sessions, sizes) {
      let output = try session.run([Tensor([Float](repeating: -2, count: size), [size])])[0]
      #expect(output.floats == [Float](repeating: 2, count: size))
    }
  }

  @Test func growthDropsSessionsOnTheSmallerMemory() throws {
    let (device, context) = (CountingDevice(.discreteGPU), ExecutionContext())
    let (small, large) = (try model(1000, on: device), try model(2000, on: device))
    weak var dropped: Session?
    dropped = try context.session(of: small)
    #expect(dropped != nil)
    _ = try context.session(of: large)
    #expect(dropped == nil && !context.has(small, CallerMemory()) && context.has(large, CallerMemory()))
    let made = device.made
    _ = try context.session(of: small)
    #expect(device.made == made && context.has(large, CallerMemory()))
  }

  @Test(arguments: [DeviceInfo.Kind.cpu, .discreteGPU])
  func memoryGrowsByTheExactNeedNearTheLimit(kind: DeviceInfo.Kind) throws {
    let needed = try {
      let device = CountingDevice(kind)
      _ = try session(10_100, on: device, ExecutionContext())
      return try #require(device.made.max())
    }()
    let (device, context) = (CountingDevice(kind, largest: needed), ExecutionContext())
    _ = try session(10_000, on: device, context)
    _ = try session(10_100, on: device, context)
    #expect(device.made.last == needed)
    #expect(throws: RuntimeError.self) { _ = try session(20_000, on: device, context) }
    _ = try session(9000, on: device, context)
  }
}
