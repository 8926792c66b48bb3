/// Discards dominated states: another state can reach the same sets at no greater total cost.
struct Dominance {
  let costs: CopyCosts
  let frontier: Frontier
  /// Whether a state contains the devices that still *need* copies (backward) or those that *hold* copies (forward).
  let isBackward: Bool
  /// The number of cheaper survivors that a state is compared with.
  private let comparisons = 24
  /// The value in each slot at the current cut.
  private var occupant: [Int]
  private var order: [Int] = []

  init(_ costs: CopyCosts, _ frontier: Frontier, isBackward: Bool) {
    self.costs = costs
    self.frontier = frontier
    self.isBackward = isBackward
    occupant = Array(repeating: -1, count: frontier.slotCount)
  }

  mutating func occupy(_ slot: Int, with value: Int) { occupant[slot] = value }

  /// Returns the states to keep, cheapest first, at most `width`.
  ///
  /// - Returns: also whether the width, not dominance, discarded any, and the number of compared slots.
  mutating func survivors(of table: StateTable, width: Int) -> (kept: [Int], truncated: Bool, work: Int) {
    guard table.count > 1 else { return (table.count == 1 ? [0] : [], false, 0) }
    order.removeAll(keepingCapacity: true)
    order.append(contentsOf: 0..<table.count)
    order.sort { (table.costs[$0], $0) < (table.costs[$1], $1) }
    var kept: [Int] = []
    var work = 0
    for state in order {
      var isDominated = false
      for better in kept.prefix(comparisons) {
        if dominates(better, state, table, &work) {
          isDominated = true
          break
        }
      }
      if isDominated { continue }
      if kept.count == width { return (kept, true, work) }
      kept.append(state)
    }
    return (kept, false, work)
  }

  @inline(__always)
  private func dominates(_ a: Int, _ b: Int, _ table: StateTable, _ work: inout Int) -> Bool {
    let words = table.words
    let allowance = table.costs[b] - table.costs[a]
    let sets = costs.sets
    let slotMask = UInt64(sets - 1)
    var spent = 0.0
    work += 1
    for word in 0..<words {
      let keyA = table.keys[a * words + word]
      let keyB = table.keys[b * words + word]
      var difference = keyA ^ keyB
      while difference != 0 {
        let local = difference.trailingZeroBitCount / frontier.bits
        let shift = UInt64(local * frontier.bits)
        let setA = Int(keyA >> shift & slotMask)
        let setB = Int(keyB >> shift & slotMask)
        let base = costs.table(of: occupant[word * frontier.slotsPerWord + local])
        spent += isBackward ? costs.reachTable[base + setB * sets + setA] : costs.reachTable[base + setA * sets + setB]
        work += 1
        if spent > allowance { return false }
        difference &= ~(slotMask << shift)
      }
    }
    return spent <= allowance
  }
}
