import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// What a decoder remembers, behind room that tokens fill one by one: as long as it lasts, no size changes.
///
/// Decoders that leave out what lies in front of their tokens take others there that count for nothing.
final class PaddedKVCache {
  /// Rows of each array; those of the tokens are the last.
  let room: Int
  private let caches: [TokenFeeding.Cache]
  /// For each cache, of so many rows and one more.
  private let memory: [(past: RowMemory, present: RowMemory)]
  private let capacity: Int
  /// In the caches' order: what a step of one token takes, and what it leaves, which is one row more.
  private let pasts: [MultiArray]
  private let presents: [MultiArray]

  /// The fewest tokens that there is room for: below it a step is over sooner than sizes that change more often would be worth.
  private static let least = 64

  /// The room in which so many tokens lie. With the token of a step it is a multiple of an eighth of a power of two, so that
  /// a step takes at most a quarter more rows than there are tokens, and no more than the model has places where their
  /// number is one.
  static func room(for count: Int) -> Int {
    let total = count + 1
    let step = max(total.bucket / 8, 1)
    return max(least, (total + step - 1) / step * step) - 1
  }

  /// Room, all of it padding.
  ///
  /// - Parameter other: whose memory it takes where that is large enough; it is not used afterwards.
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

  /// Takes what is remembered: in the caches' order, arrays whose last rows are those of all tokens.
  func hold(_ rows: [MultiArray]) {
    for (cache, (rows, past)) in zip(caches, zip(rows, pasts)) {
      past.memory.initializeMemory(as: UInt8.self, repeating: 0)
      cache.copy(min(room, rows.shape[cache.growingAxis ?? 0]), lastRowsOf: rows, into: past)
    }
  }

  /// By input.
  var features: [String: FeatureValue] {
    Dictionary(zip(caches, pasts).map { ($0.past, FeatureValue(multiArray: $1)) }) { first, _ in first }
  }

  /// Where a step of one token leaves its rows, by output.
  var backings: [String: OutputBacking] {
    Dictionary(zip(caches, presents).map { ($0.present, .multiArray($1)) }) { first, _ in first }
  }

  /// Takes what the latest step left: a row of room is gone.
  func advance() {
    for (cache, (past, present)) in zip(caches, zip(pasts, presents)) {
      cache.copy(room, lastRowsOf: present, into: past)
    }
  }

  /// In the caches' order, all that the latest step left: what room for one token less does not hold.
  var left: [MultiArray] {
    zip(caches, presents).map { cache, present in
      MultiArray(cache.type(holding: room + 1)) { $0.copyMemory(from: UnsafeRawBufferPointer(present.memory)) }
    }
  }

  /// In the caches' order, so many rows of the latest tokens.
  func rows(_ count: Int) -> [MultiArray] {
    zip(caches, pasts).map { cache, past in
      let array = MultiArray(cache.type(holding: count)) { _ in }
      cache.copy(count, lastRowsOf: past, into: array)
      return array
    }
  }
}

/// Memory that arrays of different sizes take turns on, one owner's.
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
  /// Copies the last rows of a dense array to the end of another.
  fileprivate func copy(_ count: Int, lastRowsOf source: MultiArray, into target: MultiArray) {
    guard let axis = growingAxis else { return }
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
