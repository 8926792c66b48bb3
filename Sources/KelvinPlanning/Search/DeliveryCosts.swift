/// The least cost of bringing a value from its producer's device to a set of others, for every transfer payload in a
/// problem.
///
/// It is a least-cost Steiner arborescence, relays through third devices included. Its values are those of `CopyCosts`
/// for sets with one device, in a table of `devices · 2 ^ devices` entries.
struct DeliveryCosts {
  /// The number of device sets, `2 ^ devices`.
  let sets: Int
  let devices: Int
  /// The start of each value's entries; entry `root * sets + set` follows.
  let table: [Int]
  private(set) var seconds: [Double]

  init(_ index: ProblemIndex) {
    devices = index.deviceCount
    sets = 1 << devices
    let size = devices * sets
    let (ofValue, cargos) = index.payloads()
    table = ofValue.map { $0 * size }
    seconds = Array(repeating: .infinity, count: cargos.count * size)
    var nearest = Array(repeating: Double.infinity, count: size)
    for (number, cargo) in cargos.enumerated() { fill(index, cargo, at: number * size, &nearest) }
  }

  func seconds(_ value: Int, from root: Int, to set: Int) -> Double { seconds[table[value] + root * sets + set] }

  private mutating func fill(_ index: ProblemIndex, _ cargo: TransferPayload, at base: Int, _ nearest: inout [Double]) {
    for to in 0..<devices {
      nearest[to] = .infinity
      for set in 1..<sets {
        let from = set.trailingZeroBitCount
        let direct = from == to ? .infinity : index.copySeconds(cargo, from: from, to: to)
        nearest[set * devices + to] = min(nearest[(set & (set - 1)) * devices + to], direct)
      }
    }
    for root in 0..<devices {
      let row = base + root * sets
      seconds[row + 1 << root] = 0
      for set in 1..<sets where set & (1 << root) != 0 && set != 1 << root {
        var least = Double.infinity
        var others = set & ~(1 << root)
        while others != 0 {
          let last = others.trailingZeroBitCount
          others &= others - 1
          let before = set & ~(1 << last)
          least = min(least, seconds[row + before] + nearest[before * devices + last])
        }
        seconds[row + set] = least
      }
      for device in 0..<devices {
        for set in 0..<sets where set & (1 << device) == 0 {
          seconds[row + set] = min(seconds[row + set], seconds[row + set | 1 << device])
        }
      }
    }
  }
}
