/// Joins the hashes that differ in few bits, without comparing all pairs.
///
/// If two hashes differ in fewer bits than there are parts, at least one part is equal (multi-index hashing). The hashes
/// that share a part are searched the same way, by the other bits that differ among them. So many hashes that share
/// bits cost little more than others. Hashes of one set are not compared again.
package struct SimilarHashes {
  private struct Hash {
    let bits: UInt64
    let index: Int
  }

  private let distance: Int
  private var hashes: [Hash] = []
  /// The number of pairs that were compared.
  package private(set) var comparisons = 0

  /// - Parameter distance: The largest number of bits in which joined hashes differ, 0…7.
  package init(distance: Int) { self.distance = min(max(distance, 0), 7) }

  /// Adds a hash that differs from all others.
  package mutating func add(_ bits: UInt64, _ index: Int) { hashes.append(Hash(bits: bits, index: index)) }

  /// Joins the indices of similar hashes.
  ///
  /// - Returns: False where the search was cancelled.
  package mutating func join(_ sets: inout DisjointSets, isCancelled: () -> Bool) -> Bool {
    var all = hashes
    return all.withUnsafeMutableBufferPointer { join($0, in: .max, &sets, isCancelled) }
  }

  /// The largest number of hashes that are compared pair by pair: with more, sorting by each part is faster.
  private var fewHashes: Int { 64 * (distance + 1) }

  /// Joins hashes that differ only in some bits.
  private mutating func join(
    _ hashes: UnsafeMutableBufferPointer<Hash>, in bits: UInt64, _ sets: inout DisjointSets, _ isCancelled: () -> Bool
  ) -> Bool {
    guard hashes.count > 1, !isOneSet(hashes, &sets) else { return true }
    guard hashes.count > fewHashes else {
      compare(hashes, &sets)
      return !isCancelled()
    }
    let varying = bits & hashes.reduce(0) { $0 | ($1.bits ^ hashes[0].bits) }
    var sorted = hashes
    for part in parts(of: varying) {
      sorted.sort { $0.bits & part < $1.bits & part }
      var begin = 0
      while begin < hashes.count {
        let key = hashes[begin].bits & part
        var end = begin + 1
        while end < hashes.count, hashes[end].bits & part == key { end += 1 }
        let bucket = UnsafeMutableBufferPointer(rebasing: hashes[begin..<end])
        if !join(bucket, in: varying & ~part, &sets, isCancelled) { return false }
        begin = end
      }
    }
    return true
  }

  private func isOneSet(_ hashes: UnsafeMutableBufferPointer<Hash>, _ sets: inout DisjointSets) -> Bool {
    let first = sets.representative(hashes[0].index)
    for hash in hashes.dropFirst() where sets.representative(hash.index) != first { return false }
    return true
  }

  /// Deals the bits to one part more than may differ. More hashes than `fewHashes` differ in more bits than that.
  private func parts(of bits: UInt64) -> [UInt64] {
    var parts = [UInt64](repeating: 0, count: distance + 1)
    var (rest, part) = (bits, 0)
    while rest != 0 {
      parts[part] |= rest & (~rest + 1)
      rest &= rest - 1
      part = (part + 1) % parts.count
    }
    return parts
  }

  private mutating func compare(_ hashes: UnsafeMutableBufferPointer<Hash>, _ sets: inout DisjointSets) {
    for (place, a) in hashes.enumerated() {
      for b in hashes[(place + 1)...] where (a.bits ^ b.bits).nonzeroBitCount <= distance {
        sets.join(a.index, b.index)
      }
    }
    comparisons += hashes.count * (hashes.count - 1) / 2
  }
}
