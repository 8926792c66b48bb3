import Glibc
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinRuntime
import TestSupport
import Testing

/// `KELVIN_POISON_MEMORY` fills unwritten memory. It is read once, so the tests run in a separate process.
@Suite struct PoisonedMemoryTests {
  @Test func sessionsAndPackedWeightsStartPoisoned() async {
    await #expect(processExitsWith: .success) {
      setenv("KELVIN_POISON_MEMORY", "255", 1)
      let (graph, inputs) = try RandomGraph.make(seed: 3, nodes: 9)
      for device in deviceInventory.devices where device.info.kind != .reference {
        let session = try graph.compiled(on: [device.info.id]).makeSession()
        let bytes = session.withOutput(0) { Array($0) }
        #expect(bytes.allSatisfy { $0 == 255 }, "\(device.info.id) before the first run")
        let results = try session.run(inputs)
        #expect(results.flatMap(\.floats).allSatisfy { !$0.isNaN }, "\(device.info.id) after a run")
      }
      let packed = try MemoryPackedWeights().packed("weight", byteCount: 48) { raw in
        #expect(raw.allSatisfy { $0 == 255 })
      }
      #expect(packed.count == 48)
    }
  }

  @Test func memoryIsUntouchedWithoutAPattern() async {
    await #expect(processExitsWith: .success) {
      unsetenv("KELVIN_POISON_MEMORY")
      #expect(PoisonedMemory.filler == nil)
    }
  }
}
