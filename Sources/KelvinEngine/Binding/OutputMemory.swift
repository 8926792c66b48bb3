import KelvinFeatures
import KelvinRuntime

/// The caller's arrays that outputs are written to, by output index in the graph.
struct OutputMemory: Sendable {
  /// The start address of each array, which identifies the memory. The array objects can be new at every prediction,
  /// for example for callers of the C API.
  typealias Identity = [Int: Int]

  let arrays: [Int: MultiArray]
  let identity: Identity

  init(_ arrays: [Int: MultiArray] = [:]) {
    self.arrays = arrays
    identity = arrays.mapValues { Int(bitPattern: $0.dataPointer) }
  }

  var isEmpty: Bool { arrays.isEmpty }

  /// The arrays' memory; each buffer keeps its array alive.
  var buffers: [Int: CallerBuffer] {
    arrays.compactMapValues { CallerBuffer($0.memory, owner: $0) }
  }
}
