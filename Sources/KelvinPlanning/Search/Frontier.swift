/// Which values are live between consecutive nodes of the order, and where a packed search state keeps each.
///
/// A value is live from its producer (a graph input: from its first consumer) to its last consumer. A state is
/// `words` words of `64 / devices` slots, each slot the device set of one live value. A relaxed value has no slot and
/// costs nothing to move: plans over the rest are then lower bounds.
struct Frontier {
  /// Position in the order of each node.
  let position: [Int]
  /// First and last position of each value; a value nobody reads ends where it starts.
  let first: [Int]
  let last: [Int]
  /// -1 for values that never cross a cut and for relaxed ones.
  private(set) var slot: [Int]
  private(set) var slotCount = 0
  let relaxed: [Bool]
  let slotsPerWord: Int
  let bits: Int

  var words: Int { max(1, (slotCount + slotsPerWord - 1) / slotsPerWord) }

  func word(_ slot: Int) -> Int { slot / slotsPerWord }
  func shift(_ slot: Int) -> UInt64 { UInt64(slot % slotsPerWord * bits) }

  /// Keeps at most `width` values live at any cut and relaxes the others, the longest-lived first.
  init(_ index: ProblemIndex, width: Int = .max) {
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
    var relaxed = Array(repeating: false, count: count)
    var slot = Array(repeating: -1, count: count)
    var free: [Int] = []
    var used = 0
    var held: [Int] = []
    for (i, node) in index.order.enumerated() {
      for value in index.inputs(of: node) where last[value] == i && slot[value] >= 0 && !relaxed[value] {
        free.append(slot[value])
        if width != .max { held.removeAll { $0 == value } }
      }
      let starting = index.inputs(of: node).filter { first[$0] == i } + index.outputs(of: node)
      for value in starting where last[value] > i {
        if width == .max {
          slot[value] = free.popLast() ?? used
          used = max(used, slot[value] + 1)
          continue
        }
        held.append(value)
        if held.count > width, let longest = held.max(by: { last[$0] < last[$1] }) {
          held.removeAll { $0 == longest }
          relaxed[longest] = true
          if longest == value { continue }
          slot[value] = slot[longest]
          slot[longest] = -1
        } else {
          slot[value] = free.popLast() ?? used
          used = max(used, slot[value] + 1)
        }
      }
    }
    self.position = position
    self.first = first
    self.last = last
    self.slot = slot
    self.relaxed = relaxed
    self.slotCount = used
    self.bits = max(1, index.deviceCount)
    self.slotsPerWord = 64 / bits
  }
}
