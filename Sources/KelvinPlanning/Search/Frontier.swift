/// The values that are live between consecutive nodes of the order, and their slots in a packed search state.
///
/// A value is live from its producer (a graph input: from its first consumer) to its last consumer. A state has `words`
/// words of `64 / devices` slots; each slot is the device set of one live value.
struct Frontier {
  /// The position of each node in the order.
  let position: [Int]
  /// The first and last position of each value; a value without readers ends where it starts.
  let first: [Int]
  let last: [Int]
  /// The slot of each value; -1 for values that never cross a cut.
  let slot: [Int]
  let slotCount: Int
  let slotsPerWord: Int
  let bits: Int

  var words: Int { max(1, (slotCount + slotsPerWord - 1) / slotsPerWord) }

  func word(_ slot: Int) -> Int { slot / slotsPerWord }
  func shift(_ slot: Int) -> UInt64 { UInt64(slot % slotsPerWord * bits) }

  init(_ index: ProblemIndex) {
    let count = index.valueCount
    var position = Array(repeating: 0, count: index.nodeCount)
    for (i, node) in index.order.enumerated() { position[node] = i }
    var first = index.producer.map { $0 < 0 ? Int.max : position[$0] }
    var last = first
    for (i, node) in index.order.enumerated() {
      for value in index.inputs(of: node) {
        if first[value] == .max { first[value] = i }
        last[value] = i
      }
    }
    var slot = Array(repeating: -1, count: count)
    var free: [Int] = []
    var used = 0
    for (i, node) in index.order.enumerated() {
      for value in index.inputs(of: node) where last[value] == i && slot[value] >= 0 { free.append(slot[value]) }
      let starting = index.inputs(of: node).filter { first[$0] == i } + index.outputs(of: node)
      for value in starting where last[value] > i {
        slot[value] = free.popLast() ?? used
        used = max(used, slot[value] + 1)
      }
    }
    self.position = position
    self.first = first
    self.last = last
    self.slot = slot
    self.slotCount = used
    self.bits = max(1, index.deviceCount)
    self.slotsPerWord = 64 / bits
  }
}
