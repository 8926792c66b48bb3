import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// The sizes of packed weights that plans assume.
@Suite struct PackedByteTests {
  private static let models =
    [ModelFixture.digits]
    + ["tiny_vit_f16.mlmodel", "tiny_encoder_f16.mlmodel", "tiny_vit_torchscript.onnx"].map {
      "\(SharedFiles.projectRoot)/Tests/Vectors/Transformers/\($0)"
    }

  @Test(arguments: models, ModelFixture.fastDevices.filter { $0 != "cpu" })
  func weightsAreCountedAsTheDevicePacksThem(path: String, device id: String) throws {
    let context = try ModelFixture.load(path).context
    let device = try deviceInventory.device(id)
    let request = PlanRequest(units: .devices([id]), precision: .full)
    let solution = try context.planner.problem(context.graph, request).solve()
    let nodes = context.graph.nodes.filter { solution.placement[$0.name] == id }
    let counted = nodes.reduce(into: [String: Int]()) { all, node in
      all.merge(device.packedByteCounts(of: node, in: context.graph, precision: .full) ?? [:]) { first, _ in first }
    }
    let store = CountedWeights()
    _ = try CompiledModel(
      context.graph, placement: solution.placement, transfers: solution.transfers, inventory: deviceInventory,
      precision: .full, threads: 1,
      storage: { ($0 === device ? store : MemoryPackedWeights(), NoBlobCache()) })
    let packed = store.byteCounts.withLock { $0.values.reduce(0, +) }
    // Each weight is rounded up to the alignment of buffers.
    let sum = counted.values.reduce(0, +)
    #expect(packed > 0 && sum >= packed * 95 / 100, "\(sum) of \(packed) bytes")
    #expect(sum <= packed * 105 / 100 + counted.count * bufferAlignment, "\(sum) of \(packed) bytes")
  }
}

/// Remembers the size of each weight.
private final class CountedWeights: PackedWeights {
  let byteCounts = Mutex<[String: Int]>([:])
  private let inner = MemoryPackedWeights()

  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    byteCounts.withLock { $0[key] = byteCount }
    return try inner.packed(key, byteCount: byteCount, fill: fill)
  }
}
