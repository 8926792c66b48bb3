/// The costs of having a value on more devices, for every transfer payload in a problem.
///
/// Device sets are bit masks. For a value of a given size, `grow(S, T)` is the least cost of making copies, each from
/// any existing copy, until exactly the devices `T ⊇ S` hold the value: `grow(S, S) = 0`, `grow(S, T) = min over e in T
/// − S of grow(S, T − e) + min over s in T − e of copy(s, e)`. `reach(S, C) = min over T ⊇ S ∪ C of grow(S, T)` is then
/// a least-cost Steiner arborescence, relays through third devices included.
struct CopyCosts {
  /// The number of device sets, `2 ^ devices`.
  let sets: Int
  let devices: Int
  /// The class of each value; values of one class have the same costs.
  let sizeClass: [Int32]
  /// Whether sizes were rounded down to limit memory; costs are then lower bounds.
  let isRounded: Bool
  private(set) var reachTable: [Double] = []
  private(set) var growTable: [Double] = []

  private static let tableLimit = 4 << 20

  init(_ index: ProblemIndex) {
    devices = index.deviceCount
    sets = 1 << devices
    let perClass = sets * sets
    var shift = 0
    var droppedBits = 64
    var payloads = index.payloads()
    while payloads.distinct.count * perClass > max(Self.tableLimit, perClass * 64), droppedBits > 1 {
      shift += 1
      droppedBits = shift == 1 ? 8 : droppedBits - 1
      payloads = index.payloads { Self.round($0, keeping: droppedBits) }
    }
    isRounded = shift > 0
    let sizes = payloads.distinct
    sizeClass = payloads.ofValue.map(Int32.init)
    growTable = Array(repeating: .infinity, count: sizes.count * perClass)
    for (number, cargo) in sizes.enumerated() { fillGrow(index, cargo, at: number * perClass) }
    reachTable = growTable
    for number in sizes.indices { fillReach(at: number * perClass) }
  }

  /// Returns `bytes` with only its `bits` leading significant bits.
  private static func round(_ bytes: Int, keeping bits: Int) -> Int {
    let used = Int.bitWidth - bytes.leadingZeroBitCount
    return used <= bits ? bytes : (bytes >> (used - bits)) << (used - bits)
  }

  private mutating func fillGrow(_ index: ProblemIndex, _ cargo: TransferPayload, at base: Int) {
    var nearest = Array(repeating: Double.infinity, count: sets * devices)
    for set in 1..<sets {
      for to in 0..<devices where set & (1 << to) == 0 {
        var least = Double.infinity
        for from in 0..<devices where set & (1 << from) != 0 {
          least = min(least, index.copySeconds(cargo, from: from, to: to))
        }
        nearest[set * devices + to] = least
      }
    }
    for from in 1..<sets {
      let row = base + from * sets
      growTable[row + from] = 0
      for to in (from + 1)..<max(sets, from + 1) where to & from == from {
        var least = Double.infinity
        for last in 0..<devices where (to & ~from) & (1 << last) != 0 {
          let before = to & ~(1 << last)
          least = min(least, growTable[row + before] + nearest[before * devices + last])
        }
        growTable[row + to] = least
      }
    }
  }

  private mutating func fillReach(at base: Int) {
    for from in 1..<sets {
      let row = base + from * sets
      for device in 0..<devices {
        for set in 0..<sets where set & (1 << device) == 0 {
          reachTable[row + set] = min(reachTable[row + set], reachTable[row + set | 1 << device])
        }
      }
    }
  }

  /// Returns the start of the table of `value`; entry `S * sets + C` follows.
  func table(of value: Int) -> Int { Int(sizeClass[value]) * sets * sets }

  /// Writes to `found` the sets `T ⊇ S + device` that are useful to grow to: those not reached as cheaply by growing to
  /// a smaller set first.
  func growths(at base: Int, from set: Int, toward device: Int, into found: inout [(set: Int, cost: Double)]) {
    found.removeAll(keepingCapacity: true)
    let need = set | 1 << device
    if need == set {
      found.append((set, 0))
      return
    }
    for target in need..<sets where target & need == need {
      let cost = growTable[base + set * sets + target]
      guard cost.isFinite else { continue }
      var comesLater = false
      for smaller in found where smaller.set & target == smaller.set {
        if smaller.cost + growTable[base + smaller.set * sets + target] <= cost { comesLater = true }
      }
      if !comesLater { found.append((target, cost)) }
    }
  }
}
