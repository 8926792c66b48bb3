/// The states reached so far in one step of a search, each with its least cost and its predecessor: an open-addressing
/// hash table over packed keys.
struct StateTable {
  let words: Int
  private(set) var count = 0
  private(set) var keys: [UInt64] = []
  private(set) var costs: [Double] = []
  private(set) var parents: [Int32] = []
  private(set) var devices: [UInt8] = []
  private var buckets: [Int32]
  private var stamps: [UInt32]
  private var stamp: UInt32 = 1

  init(words: Int) {
    self.words = words
    buckets = Array(repeating: 0, count: 256)
    stamps = Array(repeating: 0, count: 256)
  }

  mutating func removeAll() {
    count = 0
    keys.removeAll(keepingCapacity: true)
    costs.removeAll(keepingCapacity: true)
    parents.removeAll(keepingCapacity: true)
    devices.removeAll(keepingCapacity: true)
    stamp += 1
  }

  /// Inserts a state, or keeps the cheaper one for an existing key. The key is `words` words of `key` from `start`.
  @inline(__always)
  mutating func insert(_ key: [UInt64], from start: Int = 0, cost: Double, parent: Int, device: Int) {
    if 2 * count >= buckets.count { growBuckets() }
    let mask = buckets.count - 1
    var bucket = hash(key, start) & mask
    while stamps[bucket] == stamp {
      let found = Int(buckets[bucket])
      if equals(found, key, start) {
        if cost < costs[found] {
          costs[found] = cost
          parents[found] = Int32(truncatingIfNeeded: parent)
          devices[found] = UInt8(truncatingIfNeeded: device)
        }
        return
      }
      bucket = (bucket + 1) & mask
    }
    stamps[bucket] = stamp
    buckets[bucket] = Int32(truncatingIfNeeded: count)
    for word in 0..<words { keys.append(key[start + word]) }
    costs.append(cost)
    parents.append(Int32(truncatingIfNeeded: parent))
    devices.append(UInt8(truncatingIfNeeded: device))
    count += 1
  }

  @inline(__always)
  private func equals(_ state: Int, _ key: [UInt64], _ start: Int) -> Bool {
    let base = state * words
    for word in 0..<words where keys[base + word] != key[start + word] { return false }
    return true
  }

  @inline(__always)
  private func hash(_ key: [UInt64], _ base: Int) -> Int {
    var mixed: UInt64 = 0
    for word in 0..<words {
      mixed = (mixed ^ key[base + word]) &* 0x9E37_79B9_7F4A_7C15
      mixed ^= mixed >> 29
    }
    return Int(truncatingIfNeeded: mixed >> 1)
  }

  private mutating func growBuckets() {
    let size = buckets.count * 2
    buckets = Array(repeating: 0, count: size)
    stamps = Array(repeating: 0, count: size)
    stamp = 1
    for state in 0..<count {
      var bucket = hash(keys, state * words) & (size - 1)
      while stamps[bucket] == stamp { bucket = (bucket + 1) & (size - 1) }
      stamps[bucket] = stamp
      buckets[bucket] = Int32(truncatingIfNeeded: state)
    }
  }
}
