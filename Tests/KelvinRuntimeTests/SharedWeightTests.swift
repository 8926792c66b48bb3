import FoundationEssentials
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Synchronization
import Testing

/// Computes as the reference does, on weights that it takes from the store of packed weights.
private final class PackingDevice: Device {
  let health = DeviceHealth()
  let info = DeviceInfo(
    id: "packing", name: "packing", kind: .cpu, driver: "test", version: "1", memory: 1 << 30, resource: "cpu")
  private let reference = ReferenceDevice()
  private let log = Mutex<(filled: [String], stores: [ObjectIdentifier])>(([], []))

  /// The names of the weights packed, without what tells their states apart.
  var filled: [String] { log.withLock { $0.filled } }
  var stores: [ObjectIdentifier] { log.withLock { $0.stores } }

  func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    reference.support(for: node, in: graph, precision: precision)
  }

  func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    var segment = segment
    log.withLock { $0.stores.append(ObjectIdentifier(segment.weights)) }
    for (index, value) in segment.graph.values.enumerated() {
      guard let weight = value.weight else { continue }
      let bytes = try segment.weights.packed("\(value.name)/dense", byteCount: value.type.byteCount) {
        (target) throws(DeviceError) in
        log.withLock { $0.filled.append(String(value.name.prefix { $0 != "#" })) }
        weight.dense().bytes.withUnsafeBytes { target.copyMemory(from: $0) }
      }
      segment.graph.values[index].weight = Weight(Tensor(value.type, bytes))
    }
    return try reference.compile(segment)
  }

  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer { try reference.makeBuffer(byteCount: byteCount) }
}

@Suite struct SharedWeightTests {
  private let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-shared-\(UInt64.random(in: 0 ..< .max))"

  private func cache() -> CompiledCache { CompiledCache(CacheDirectory(folder), kelvinVersion: "1") }

  /// x · (the size of x) + a weight of the file.
  private func graph(size: Int, _ file: Bytes) throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "n", kind: "Test", index: 0)
    let x = try builder.input("x", TensorType(.float32, [size]))
    let shape = builder.constant("shape", Tensor(TensorType(.int64, [1]), Bytes([Int64(size)])))
    let index = builder.constant("index", Tensor(TensorType(.int64, [1]), Bytes([Int64(0)])))
    let gathered = try builder.add(Gather(axis: 0), shape, index, name: "gathered", origin: origin)
    let factor = try builder.add(Cast(.float32), gathered, name: "factor", origin: origin)
    let stored = builder.constant("stored", Tensor(TensorType(.float32, [1]), file))
    let product = try builder.add(Binary(.multiply), x, factor, name: "product", origin: origin)
    builder.output(try builder.add(Binary(.add), product, stored, name: "sum", origin: origin))
    return try builder.finish()
  }

  private func context(
    _ graph: Graph, on device: PackingDevice, _ cache: CompiledCache?,
    stores: WeightRegistry<MemoryPackedWeights> = WeightRegistry()
  ) -> ModelContext {
    ModelContext(
      name: "m", key: ContentKey(["m"]), function: "main", graph: graph,
      inventory: DeviceInventory([DeviceListing(device), DeviceListing(ReferenceDevice())]), cache: cache,
      costs: CostSheet(), stores: stores)
  }

  private func compile(_ context: ModelContext, precision: Precision = .full) throws -> CompiledModel {
    let pins = Dictionary(uniqueKeysWithValues: context.graph.nodes.map { ($0.name, "packing") })
    let request = PlanRequest(units: .devices(["packing", "reference"]), pins: pins)
    return try context.compile(try context.explain(request).solution, precision: precision, threads: 1)
  }

  private func storedWeight() throws -> Bytes {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data([0, 0, 0, 0x3F]).write(to: URL(filePath: "\(folder)/weight"))
    return try Bytes(mapping: "\(folder)/weight")
  }

  @Test(arguments: [true, false]) func constantsMadeFromShapesStayWithTheirShapes(isCached: Bool) throws {
    let file = try storedWeight()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let device = PackingDevice()
    let stores = WeightRegistry<MemoryPackedWeights>()
    var models: [CompiledModel] = []
    for size in [2, 3, 2, 3] {
      let context = context(try graph(size: size, file), on: device, isCached ? cache() : nil, stores: stores)
      let model = try compile(context)
      models.append(model)
      let output = try model.makeSession().run([Tensor([Float](repeating: 1, count: size), [size])])[0]
      #expect(output.floats == [Float](repeating: Float(size) + 0.5, count: size))
    }
    // Weights of the file are packed once, weights that depend on sizes once for each size.
    #expect(device.filled.sorted() == ["factor", "factor", "stored"])
  }

  @Test(arguments: [true, false]) func compilingAgainSharesTheStore(isCached: Bool) throws {
    let file = try storedWeight()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let device = PackingDevice()
    let context = context(try graph(size: 2, file), on: device, isCached ? cache() : nil)
    let models = [try compile(context), try compile(context.with(costs: CostSheet())), try compile(context)]
    withExtendedLifetime(models) {
      #expect(device.stores.count == 3 && Set(device.stores).count == 1)
      #expect(device.filled.count == 2)
    }
  }

  @Test(arguments: [true, false]) func precisionsShareTheirPackedWeights(isCached: Bool) throws {
    let file = try storedWeight()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let device = PackingDevice()
    let context = context(try graph(size: 2, file), on: device, isCached ? cache() : nil)
    let models = try Precision.allCases.map { try compile(context, precision: $0) }
    withExtendedLifetime(models) {
      #expect(device.stores.count == Precision.allCases.count && Set(device.stores).count == 1)
      #expect(device.filled.sorted() == ["factor", "stored"])
    }
  }

  @Test func expandedWeightsAreNotStoredOnDisk() throws {
    let count = 1 << 16
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(repeating: 0xE4, count: count / 4).write(to: URL(filePath: "\(folder)/weight"))
    let packed = try PackedIntegers(Bytes(mapping: "\(folder)/weight"), bits: 2, shape: [count])
    let table = Weight(Tensor([Float(1), 2, 3, 4], [1, 4, 1]))
    let weight = try Weight(palettized: Weight(packed), table: table)
    // A pass leaves weights that are computed from others.
    let computed = Weight(weight.type, from: [weight]) {
      Tensor(weight.dense().floats.map { 2 * $0 }, [count])
    }
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    let origin = Origin(name: "n", kind: "Test", index: 0)
    let x = try builder.input("x", weight.type)
    let ids = [builder.constant("encoded", weight), builder.constant("computed", computed)]
    let plain = builder.constant("plain", Tensor([Float](repeating: 1, count: count), [count]))
    let product = try builder.add(Binary(.multiply), x, ids[0], name: "product", origin: origin)
    let sum = try builder.add(Binary(.add), product, ids[1], name: "sum", origin: origin)
    builder.output(try builder.add(Binary(.add), sum, plain, name: "result", origin: origin))
    let graph = try builder.finish()
    for (round, filled) in [["computed", "encoded", "plain"], ["computed", "encoded"]].enumerated() {
      let device = PackingDevice()
      let model = try compile(context(graph, on: device, cache()))
      #expect(device.filled.sorted() == filled, "start \(round)")
      let output = try model.makeSession().run([Tensor([Float](repeating: 1, count: count), [count])])[0].floats
      #expect(Array(output[..<4]) == [4, 7, 10, 13])
      let report = model.weightReport
      #expect(report.storedBytes == count / 4 + 16 + count * 4 && report.denseBytes == count * 8)
      #expect(report.forms.map(\.encoding) == ["dense", "palettized 2-bit"])
      #expect(report.packed == [.init(device: "packing", bytes: count * 12, expandedBytes: count * 8)])
    }
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".pack") }
    let size = try Data(contentsOf: URL(filePath: "\(folder)/\(try #require(files.first))")).count
    #expect(files.count == 1 && size >= count * 4 && size < count * 5)
  }

  @Test func measurementsAreMergedWithoutLoss() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let machine = MachineDescription(SystemFiles())
    @Sendable func profile(_ model: String) -> MeasuredProfile {
      var profile = MeasuredProfile(kelvinVersion: "1", machine: machine)
      let device = DeviceIdentity(id: "cpu", name: "n", driver: "d", version: "1")
      profile.devices = [device]
      profile.startup = [model: ["cpu": StartupCost(load: 1, compile: 1, firstRun: 1)]]
      return profile
    }
    @Sendable func store() -> ProfileStore { ProfileStore(CacheDirectory(folder), kelvinVersion: "1") }
    let failures = Mutex(0)
    let group = (0..<8).map { index in
      BackgroundThread {
        do { if try !store().save(profile("m\(index)")).isEmpty { failures.withLock { $0 += 1 } } } catch {
          failures.withLock { $0 += 1 }
        }
      }
    }
    group.forEach { $0.join() }
    #expect(failures.withLock { $0 } == 0)
    let path = URL(filePath: "\(folder)/profiles/measured.json")
    let whole = try Data(contentsOf: path)
    let stored = try MeasuredProfile(json: Array(whole), document: "p")
    #expect(Set(stored.startup.keys) == Set((0..<8).map { "m\($0)" }))

    let broken = Data("broken".utf8)
    try broken.write(to: path)
    let remarks = try store().save(profile("new"))
    #expect(remarks.count == 1 && remarks[0].contains("profiles/rejected.json"), "\(remarks)")
    #expect(try Data(contentsOf: URL(filePath: "\(folder)/profiles/rejected.json")) == broken)
    #expect(
      try MeasuredProfile(json: Array(try Data(contentsOf: path)), document: "p").startup.keys.sorted() == ["new"])
  }
}
