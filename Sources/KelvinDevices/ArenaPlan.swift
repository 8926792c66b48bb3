/// Assigns offsets in one block of memory to values with known lifetimes, so that values alive at the same time never
/// overlap.
///
/// The algorithm is greedy by size: large values first, each at the lowest offset that is free during its lifetime.
package struct ArenaPlan: Hashable, Sendable {
  /// A value's size, and the steps, first to last, during which its bytes must be preserved.
  package struct Lifetime: Hashable, Sendable {
    package var byteCount: Int
    package var steps: ClosedRange<Int>

    package init(byteCount: Int, steps: ClosedRange<Int>) {
      self.byteCount = byteCount
      self.steps = steps
    }
  }

  /// The offset of each value, in the order given.
  package let offsets: [Int]
  /// The size of the block.
  package let byteCount: Int

  package init(_ lifetimes: [Lifetime], alignment: Int = bufferAlignment) {
    func aligned(_ count: Int) -> Int { (count + alignment - 1) / alignment * alignment }
    let order = lifetimes.indices.sorted { left, right in
      (lifetimes[right].byteCount, left) < (lifetimes[left].byteCount, right)
    }
    var offsets = [Int](repeating: 0, count: lifetimes.count)
    var occupied = OccupiedBytes(lifetimes.map(\.steps))
    var total = 0
    for index in order {
      let size = aligned(lifetimes[index].byteCount)
      offsets[index] = occupied.place(index, size)
      total = max(total, offsets[index] + size)
    }
    self.offsets = offsets
    byteCount = total
  }
}

/// The bytes in use over time: a segment tree over the moments at which a value's lifetime begins.
private struct OccupiedBytes {
  /// Disjoint byte ranges that do not touch, in ascending order.
  private typealias Runs = [Range<Int>]

  /// For each value, the first and the last moment of its lifetime.
  private let lives: [ClosedRange<Int>]
  /// The number of leaves, a power of two.
  private var momentCount = 1
  /// For each tree node, the bytes of values alive at all of its moments, and of values alive at any of them. The
  /// latter omit values that are recorded at an ancestor.
  private var throughout: [Runs]
  private var sometime: [Runs]

  init(_ steps: [ClosedRange<Int>]) {
    let starts = Set(steps.map(\.lowerBound)).sorted()
    /// Returns the number of moments up to a step.
    func count(upTo step: Int) -> Int {
      var (low, high) = (0, starts.count)
      while low < high {
        let middle = (low + high) / 2
        if starts[middle] <= step { low = middle + 1 } else { high = middle }
      }
      return low
    }
    lives = steps.map { count(upTo: $0.lowerBound) - 1...count(upTo: $0.upperBound) - 1 }
    while momentCount < starts.count { momentCount *= 2 }
    throughout = Array(repeating: [], count: 2 * momentCount)
    sometime = throughout
  }

  /// Reserves the lowest offset that is free during a value's whole lifetime.
  mutating func place(_ value: Int, _ size: Int) -> Int {
    let nodes = nodes(of: lives[value])
    var taken: Runs = []
    for node in nodes.above { taken += throughout[node] }
    for node in nodes.covering { taken += sometime[node] }
    var offset = 0
    for run in taken.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if offset + size <= run.lowerBound { break }
      offset = max(offset, run.upperBound)
    }
    let bytes = offset..<offset + size
    for node in nodes.covering {
      Self.add(bytes, to: &throughout[node])
      Self.add(bytes, to: &sometime[node])
    }
    for node in nodes.above { Self.add(bytes, to: &sometime[node]) }
    return offset
  }

  /// Returns the tree nodes that cover a lifetime, and all ancestors of its two ends.
  private func nodes(of life: ClosedRange<Int>) -> (covering: [Int], above: [Int]) {
    var covering: [Int] = []
    var (low, high) = (life.lowerBound + momentCount, life.upperBound + 1 + momentCount)
    while low < high {
      if low % 2 == 1 {
        covering.append(low)
        low += 1
      }
      if high % 2 == 1 {
        high -= 1
        covering.append(high)
      }
      (low, high) = (low / 2, high / 2)
    }
    var above: [Int] = []
    var (left, right) = (life.lowerBound + momentCount, life.upperBound + momentCount)
    while left > 0 {
      above.append(left)
      if right != left { above.append(right) }
      (left, right) = (left / 2, right / 2)
    }
    return (covering, above)
  }

  private static func add(_ bytes: Range<Int>, to runs: inout Runs) {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound < bytes.lowerBound { low = middle + 1 } else { high = middle }
    }
    var joined = bytes
    var end = low
    while end < runs.count, runs[end].lowerBound <= bytes.upperBound {
      joined = min(joined.lowerBound, runs[end].lowerBound)..<max(joined.upperBound, runs[end].upperBound)
      end += 1
    }
    if end == low + 1 { runs[low] = joined } else { runs.replaceSubrange(low..<end, with: CollectionOfOne(joined)) }
  }
}
