/// Places values with known lifetimes in one block of memory, so that values alive at the same time never overlap.
///
/// Greedy by size: large values first, each at the lowest offset that no overlapping lifetime occupies.
package struct ArenaPlan: Hashable, Sendable {
  /// A value's size and the steps, first to last, during which its bytes must stand.
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
    var placed: [Int] = []  // ascending by offset
    var total = 0
    for index in order {
      let size = aligned(lifetimes[index].byteCount)
      var offset = 0
      for other in placed where lifetimes[other].steps.overlaps(lifetimes[index].steps) {
        if offset + size <= offsets[other] { break }
        offset = max(offset, offsets[other] + aligned(lifetimes[other].byteCount))
      }
      offsets[index] = offset
      total = max(total, offset + size)
      let position = placed.firstIndex { offsets[$0] > offset } ?? placed.endIndex
      placed.insert(index, at: position)
    }
    self.offsets = offsets
    byteCount = total
  }
}
