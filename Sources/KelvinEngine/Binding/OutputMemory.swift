import KelvinFeatures
import KelvinRuntime

/// Callers' arrays that outputs are written into, by the outputs' positions in the graph.
struct OutputMemory: Sendable {
  /// Where each array begins: what a session writes to. The arrays themselves are others at every prediction of a caller
  /// who lends memory alone, as C does.
  typealias Identity = [Int: Int]

  let arrays: [Int: MultiArray]
  let identity: Identity

  init(_ arrays: [Int: MultiArray] = [:]) {
    self.arrays = arrays
    identity = arrays.mapValues { Int(bitPattern: $0.dataPointer) }
  }

  var isEmpty: Bool { arrays.isEmpty }

  /// The arrays' memory, for as long as the buffers live.
  var buffers: [Int: CallerBuffer] {
    arrays.compactMapValues { CallerBuffer($0.memory, owner: $0) }
  }
}
