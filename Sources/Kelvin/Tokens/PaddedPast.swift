import KelvinFeatures
import KelvinGraph
import KelvinRuntime

/// What a decoder remembers, behind room that tokens fill one by one: as long as it lasts, no size changes.
///
/// Decoders that are told by a mask which tokens there are take others in front of them that count for nothing.
final class PaddedPast {
  /// Rows of each array; those of the tokens are the last.
  let room: Int
  private let caches: [TokenFeeding.Cache]
  /// In the caches' order: what a step of one token takes, and what it leaves, which is one row more.
  private let pasts: [MultiArray]
  private let presents: [MultiArray]

  /// The least room: below it a step is over sooner than sizes that change more often would be worth.
  private static let least = 64

  /// The room in which so many tokens lie, and at least one row of padding.
  static func room(for count: Int) -> Int { max(least, (count + 1).bucket) }

  /// - Parameter rows: in the caches' order, arrays whose last rows are those of all tokens.
  init(_ caches: [TokenFeeding.Cache], room: Int, _ rows: [MultiArray]) {
    self.caches = caches
    self.room = room
    pasts = zip(caches, rows).map { cache, rows in cache.array(of: room, lastOf: rows) }
    presents = caches.map { MultiArray($0.type(holding: room + 1)) { _ in } }
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

  /// In the caches' order, so many rows of the latest tokens.
  func rows(_ count: Int) -> [MultiArray] {
    zip(caches, pasts).map { cache, past in cache.array(of: count, lastOf: past) }
  }
}

extension TokenFeeding.Cache {
  /// An array of so many rows that ends with those of another, zeros before them.
  fileprivate func array(of count: Int, lastOf rows: MultiArray) -> MultiArray {
    let array = MultiArray(type(holding: count)) { _ in }
    copy(min(count, rows.shape[growingAxis ?? 0]), lastRowsOf: rows, into: array)
    return array
  }

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
