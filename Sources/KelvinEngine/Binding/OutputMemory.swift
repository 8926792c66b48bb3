import KelvinFeatures
import KelvinRuntime

/// Callers' arrays that outputs are written into, by the outputs' positions in the graph.
struct OutputMemory: Sendable {
  typealias Identity = [Int: ObjectIdentifier]

  let arrays: [Int: MultiArray]

  init(_ arrays: [Int: MultiArray] = [:]) { self.arrays = arrays }

  var isEmpty: Bool { arrays.isEmpty }
  var identity: Identity { arrays.mapValues { ObjectIdentifier($0) } }

  /// The arrays' memory, for as long as the buffers live.
  var buffers: [Int: LentBuffer] {
    arrays.compactMapValues { LentBuffer($0.memory, owner: $0) }
  }
}
