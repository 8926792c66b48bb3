import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// The KV cache of a decoder in states, which stay on the devices that the plan chooses. Steps copy nothing of it to
/// the host. A growing cache has padding rows in front, as in `PaddedKVCache`.
final class CarriedKVCache {
  /// The number of rows of a growing array, padding included; nil if the arrays have a fixed size.
  let room: Int?
  let state: StateMemory
  private let caches: [TokenFeeding.Cache]

  /// Creates a cache of zeros.
  ///
  /// - Parameter predictor: the model with the caches in states (`Predictor.carrying`).
  init(_ caches: [TokenFeeding.Cache], room: Int?, of predictor: Predictor) {
    self.caches = caches
    self.room = room
    let types = caches.map { ($0.past, $0.type(holding: room ?? 0)) }
    state = predictor.makeState(Dictionary(types) { first, _ in first })
  }

  /// Fills the cache from arrays, in the caches' order, whose last rows are the rows of all tokens.
  ///
  /// - Throws: `device` if a device failed.
  func hold(_ rows: [MultiArray]) throws(ModelError) {
    try ModelError.wrapping {
      try state.borrowing {
        for (cache, rows) in zip(caches, rows) {
          let array = MultiArray(cache.type(holding: room ?? 0)) {
            _ = $0.initializeMemory(as: UInt8.self, repeating: 0)
          }
          cache.copy(cache.rowCount(of: rows, atMost: room), lastRowsOf: rows, into: array)
          let bytes = withExtendedLifetime(array) { Bytes(copying: UnsafeRawBufferPointer(array.memory)) }
          try state.write(cache.past, bytes)
        }
      }
    }
  }

  /// Returns copies of the rows of the latest `count` tokens, in the caches' order; whole arrays of a fixed size.
  ///
  /// - Throws: `device` if a device failed.
  func rows(_ count: Int) throws(ModelError) -> [MultiArray] {
    try ModelError.wrapping {
      try state.borrowing {
        try caches.map { cache in
          let whole = MultiArray(cache.type(holding: room ?? 0)) {
            _ = $0.initializeMemory(as: UInt8.self, repeating: 0)
          }
          if let bytes = try state.read(cache.past) { bytes.withUnsafeBytes { whole.memory.copyMemory(from: $0) } }
          let array = MultiArray(cache.type(holding: count)) { _ in }
          cache.copy(count, lastRowsOf: whole, into: array)
          return array
        }
      }
    }
  }
}
