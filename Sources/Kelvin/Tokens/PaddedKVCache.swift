import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// The KV cache of a decoder, with padding rows in front that tokens gradually replace. As long as padding remains, the
/// input shapes do not change.
///
/// The cache requires a decoder that ignores the rows in front of the tokens' rows.
final class PaddedKVCache {
  /// The number of rows of each array, padding included. The rows of the tokens are the last ones.
  let room: Int
  private let caches: [TokenFeeding.Cache]
  /// The memory of each cache's input (`capacity` rows) and output (one row more).
  private let memory: [(past: RowMemory, present: RowMemory)]
  private let capacity: Int
  /// The inputs and outputs of a step of one token, in the caches' order. The outputs have one row more.
  private let pasts: [MultiArray]
  private let presents: [MultiArray]

  /// The minimum room in tokens. Below it, steps are too short for stable sizes to pay off.
  private static let least = 64

  /// Returns the number of rows for `count` tokens. Together with the step's token it is a multiple of an eighth of a
  /// power of two. So a step processes at most a quarter more rows than there are tokens, and no more than the model
  /// has positions if their number is a power of two.
  static func room(for count: Int) -> Int {
    let total = count + 1
    let step = max(total.bucket / 8, 1)
    return max(least, (total + step - 1) / step * step) - 1
  }

  /// Creates a cache that contains only padding.
  ///
  /// - Parameter other: a cache whose memory is reused if it is large enough. It must not be used afterwards.
  init(_ caches: [TokenFeeding.Cache], room: Int, reusing other: PaddedKVCache?) throws(ModelError) {
    self.caches = caches
    self.room = room
    if let other, other.capacity >= room {
      (memory, capacity) = (other.memory, other.capacity)
    } else {
      let capacity = (room + 1).bucket - 1
      self.capacity = capacity
      memory = caches.map {
        (RowMemory($0.type(holding: capacity).byteCount), RowMemory($0.type(holding: capacity + 1).byteCount))
      }
    }
    var (pasts, presents): ([MultiArray], [MultiArray]) = ([], [])
    for (cache, memory) in zip(caches, memory) {
      pasts.append(try memory.past.array(cache.type(holding: room)))
      presents.append(try memory.present.array(cache.type(holding: room + 1)))
    }
    (self.pasts, self.presents) = (pasts, presents)
  }

  /// Fills the cache from arrays, in the caches' order, whose last rows are the rows of all tokens.
  func hold(_ rows: [MultiArray]) {
    for (cache, (rows, past)) in zip(caches, zip(rows, pasts)) {
      past.memory.initializeMemory(as: UInt8.self, repeating: 0)
      cache.copy(min(room, rows.shape[cache.growingAxis ?? 0]), lastRowsOf: rows, into: past)
    }
  }

  /// The input features, by input name.
  var features: [String: FeatureValue] {
    Dictionary(zip(caches, pasts).map { ($0.past, FeatureValue(multiArray: $1)) }) { first, _ in first }
  }

  /// The output backings of a step of one token, by output name.
  var backings: [String: OutputBacking] {
    Dictionary(zip(caches, presents).map { ($0.present, .multiArray($1)) }) { first, _ in first }
  }

  /// Takes over the outputs of the latest step, which replace one row of padding.
  func advance() {
    for (cache, (past, present)) in zip(caches, zip(pasts, presents)) {
      cache.copy(room, lastRowsOf: present, into: past)
    }
  }

  /// Copies of the latest step's outputs, in the caches' order, including the oldest row that this cache has no room
  /// for.
  var left: [MultiArray] {
    zip(caches, presents).map { cache, present in
      MultiArray(cache.type(holding: room + 1)) { $0.copyMemory(from: UnsafeRawBufferPointer(present.memory)) }
    }
  }

  /// Returns copies of the rows of the latest `count` tokens, in the caches' order.
  func rows(_ count: Int) -> [MultiArray] {
    zip(caches, pasts).map { cache, past in
      let array = MultiArray(cache.type(holding: count)) { _ in }
      cache.copy(count, lastRowsOf: past, into: array)
      return array
    }
  }
}

/// Memory that arrays of different sizes use in turn. It has one owner.
private final class RowMemory: @unchecked Sendable {
  private let bytes: UnsafeMutableRawBufferPointer

  init(_ byteCount: Int) {
    bytes = .allocate(byteCount: max(byteCount, 1), alignment: 64)
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { bytes.deallocate() }

  func array(_ type: TensorType) throws(ModelError) -> MultiArray {
    guard let base = bytes.baseAddress else { throw ModelError(.generic, "there is no memory for \(type)") }
    return try MultiArray(
      dataPointer: base, shape: type.shape.dimensions, dataType: MultiArrayDataType(type.scalar), strides: nil
    ) { [self] _ in withExtendedLifetime(self) {} }
  }
}

extension TokenFeeding.Cache {
  /// Returns the number of rows of an array, at most `limit` if it is given.
  func rowCount(of array: MultiArray, atMost limit: Int?) -> Int {
    let count = growingAxis.map { array.shape[$0] } ?? 1
    return min(count, limit ?? count)
  }

  /// Copies the last `count` rows of a dense array to the end of another; all elements if the cache does not grow.
  func copy(_ count: Int, lastRowsOf source: MultiArray, into target: MultiArray) {
    guard let axis = growingAxis else {
      return target.memory.copyMemory(from: UnsafeRawBufferPointer(source.memory))
    }
    let row = shape.dimensions[(axis + 1)...].reduce(scalar.byteCount, *)
    let blocks = shape.dimensions[..<axis].reduce(1, *)
    let (from, to) = (source.shape[axis], target.shape[axis])
    guard let read = source.memory.baseAddress, let write = target.memory.baseAddress else { return }
    for block in 0..<blocks {
      (write + ((block + 1) * to - count) * row)
        .copyMemory(from: read + ((block + 1) * from - count) * row, byteCount: count * row)
    }
    withExtendedLifetime((source, target)) {}
  }
}
