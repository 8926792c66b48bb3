/// A lower bound of the serial sum of a graph of any width, and placements to start from.
///
/// Each node and each value is a separate problem: a node chooses the cheapest device, a value the cheapest combination
/// of producer and readers. Their choices may disagree, so the sum of their least costs is a lower bound.
///
/// Seconds moved between a node and its values, per device, change the bound but no plan's total. They are moved node
/// by node, forward and backward along the order, so that the bound never falls. This is sequential reweighted message
/// passing: Kolmogorov, "A new look at reweighted message passing", PAMI 37(5), 2015. It approximates the dual of a
/// linear relaxation.
///
/// The least cost of a value is `min over sets T of  (min over r of  maker(r) + delivery(r, T)) + Σ over readers of min
/// over d in T of reader(d)`. It takes `2 ^ devices` sets for any number of readers, and at most the sets with one
/// device for each reader.
struct MessagePassing {
  private let index: ProblemIndex
  private let deliveries: DeliveryCosts
  private let devices: Int
  private let sets: Int
  /// The representation of an impossible cost: more than the total of a known plan.
  private let never: Double
  /// The values with readers.
  private let values: [Int]
  /// A *seat* is the producer or a reader of a value. The seats of value `v` are `seatStart[v]..<seatStart[v + 1]`, the
  /// producer first if it is a node.
  private let seatStart: [Int]
  private let valueOfSeat: [Int]
  private let isMaker: [Bool]
  private let hasLater: [Bool]
  private let hasEarlier: [Bool]
  /// The seats of each node.
  private let seatsOf: [[Int]]
  /// Per seat and device, the seconds that the node moved to the value.
  private(set) var handed: [Double]
  /// Per node and device, the seconds that the node kept; infinite where it may not run.
  private var kept: [Double]
  /// Non-empty device sets, small ones first, and the number of sets that each value considers.
  private let setList: [Int]
  private let setCount: [Int]
  /// Per value and set, the producer's part and the readers' part of the value's cost.
  private var making: [Double]
  private var reading: [Double]
  private var least: [Double]
  private var sums: [Double]

  private(set) var bound = 0.0
  /// The elementary moves made.
  private(set) var work = 0

  /// - Parameters:
  ///   - seconds: the seconds of the nodes, which replace the index's.
  ///   - known: the total of a known plan.
  ///   - handed: the final state of another search for the same graph.
  init(
    _ index: ProblemIndex, _ deliveries: DeliveryCosts, seconds: [Double], known: Double, handed: [Double]? = nil
  ) {
    self.index = index
    self.deliveries = deliveries
    devices = index.deviceCount
    sets = 1 << devices
    never = 2 * known + 1e-9
    var position = Array(repeating: 0, count: index.nodeCount)
    for (place, node) in index.order.enumerated() { position[node] = place }
    var seatStart = [0]
    var valueOfSeat: [Int] = []
    var isMaker: [Bool] = []
    var hasLater: [Bool] = []
    var hasEarlier: [Bool] = []
    var seatsOf = Array(repeating: [Int](), count: index.nodeCount)
    var values: [Int] = []
    kept = seconds
    for value in 0..<index.valueCount {
      let readers = index.readers(of: value)
      let producer = index.producer[value]
      let set = index.isOutput[value] ? 1 << index.host : 0
      if readers.isEmpty {
        if producer >= 0 {
          for device in 0..<devices {
            kept[producer * devices + device] += min(deliveries.seconds(value, from: device, to: set), never)
          }
        }
      } else {
        values.append(value)
        let nodes = (producer >= 0 ? [producer] : []) + readers
        let places = nodes.map { position[$0] }
        let (first, last) = (places.min() ?? 0, places.max() ?? 0)
        for (number, node) in nodes.enumerated() {
          seatsOf[node].append(valueOfSeat.count)
          valueOfSeat.append(value)
          isMaker.append(number == 0 && producer >= 0)
          hasLater.append(places[number] < last)
          hasEarlier.append(places[number] > first)
        }
      }
      seatStart.append(valueOfSeat.count)
    }
    self.values = values
    self.seatStart = seatStart
    self.valueOfSeat = valueOfSeat
    self.isMaker = isMaker
    self.hasLater = hasLater
    self.hasEarlier = hasEarlier
    self.seatsOf = seatsOf
    let list = (1..<max(2, sets)).sorted { ($0.nonzeroBitCount, $0) < ($1.nonzeroBitCount, $1) }
    setList = list
    let most = (0...index.deviceCount).map { most in list.count { $0.nonzeroBitCount <= most } }
    setCount = (0..<index.valueCount).map { most[min(index.deviceCount, index.readers(of: $0).count)] }
    if let handed, handed.count == valueOfSeat.count * devices {
      self.handed = handed
    } else {
      self.handed = Array(repeating: 0, count: valueOfSeat.count * devices)
    }
    making = Array(repeating: 0, count: index.valueCount * sets)
    reading = making
    least = Array(repeating: 0, count: sets)
    sums = least
    for node in 0..<index.nodeCount {
      for seat in seatsOf[node] {
        for device in 0..<devices {
          if kept[node * devices + device].isFinite {
            kept[node * devices + device] -= self.handed[seat * devices + device]
          } else {
            self.handed[seat * devices + device] = never
          }
        }
      }
    }
    for value in values { moves += 2 * (seatStart[value + 1] - seatStart[value]) * setCount[value] * devices }
    refresh()
  }

  /// The elementary moves of one pass.
  private(set) var moves = 0

  private func delivery(_ value: Int, _ root: Int, _ set: Int) -> Double {
    let all = index.isOutput[value] ? set | 1 << index.host : set
    return min(deliveries.seconds[deliveries.table[value] + root * sets + all], never)
  }

  /// Recomputes the sums, to remove rounding errors, and with them the bound.
  private mutating func refresh() {
    var sum = 0.0
    for node in 0..<index.nodeCount { sum += (0..<devices).reduce(.infinity) { min($0, kept[node * devices + $1]) } }
    for value in values {
      let base = value * sets
      for set in 0..<sets { reading[base + set] = 0 }
      if index.producer[value] < 0 {
        for set in 1..<sets { making[base + set] = delivery(value, index.host, set) }
      }
      for seat in seatStart[value]..<seatStart[value + 1] {
        if isMaker[seat] { sumMaking(seat) } else { addReading(seat, 1) }
      }
      var least = Double.infinity
      for entry in 0..<setCount[value] {
        least = min(least, making[base + setList[entry]] + reading[base + setList[entry]])
      }
      sum += least
    }
    for value in 0..<index.valueCount
    where index.producer[value] < 0 && index.isOutput[value] && index.readers(of: value).isEmpty {
      sum += deliveries.seconds(value, from: index.host, to: 1 << index.host)
    }
    bound = max(bound, sum)
  }

  private mutating func sumMaking(_ seat: Int) {
    let value = valueOfSeat[seat]
    for entry in 0..<setCount[value] {
      let set = setList[entry]
      var least = Double.infinity
      for device in 0..<devices { least = min(least, handed[seat * devices + device] + delivery(value, device, set)) }
      making[value * sets + set] = least
    }
  }

  /// Computes in `least`, for each set, the reader's least seconds on any of its devices.
  private mutating func findLeast(_ seat: Int) {
    least[0] = .infinity
    for entry in 0..<setCount[valueOfSeat[seat]] {
      let set = setList[entry]
      least[set] = min(least[set & (set - 1)], handed[seat * devices + set.trailingZeroBitCount])
    }
  }

  private mutating func addReading(_ seat: Int, _ sign: Double) {
    findLeast(seat)
    let value = valueOfSeat[seat]
    for entry in 0..<setCount[value] {
      let set = setList[entry]
      reading[value * sets + set] += sign * least[set]
    }
  }

  /// Takes all spare seconds from the value of a seat, so that its least cost is 0 on each of the node's devices.
  private mutating func take(_ seat: Int, for node: Int) {
    let value = valueOfSeat[seat]
    let base = value * sets
    let count = setCount[value]
    if isMaker[seat] {
      for device in 0..<devices where kept[node * devices + device].isFinite {
        var rest = Double.infinity
        for entry in 0..<count {
          rest = min(rest, delivery(value, device, setList[entry]) + reading[base + setList[entry]])
        }
        kept[node * devices + device] += handed[seat * devices + device] + rest
        handed[seat * devices + device] = -rest
      }
      return
    }
    addReading(seat, -1)
    for device in 0..<devices where kept[node * devices + device].isFinite {
      var rest = Double.infinity
      for entry in 0..<count where setList[entry] & (1 << device) != 0 {
        rest = min(rest, making[base + setList[entry]] + reading[base + setList[entry]])
      }
      kept[node * devices + device] += handed[seat * devices + device] + rest
      handed[seat * devices + device] = -rest
    }
  }

  private mutating func settle(_ seat: Int) {
    if isMaker[seat] { sumMaking(seat) } else { addReading(seat, 1) }
  }

  /// Makes one pass along the order and back.
  mutating func pass() {
    for node in index.order { visit(node, towards: hasLater) }
    for node in index.order.reversed() { visit(node, towards: hasEarlier) }
    refresh()
    work += moves
  }

  private mutating func visit(_ node: Int, towards ahead: [Bool]) {
    let seats = seatsOf[node]
    if seats.isEmpty { return }
    var later = 0
    var earlier = 0
    for seat in seats {
      take(seat, for: node)
      later += hasLater[seat] ? 1 : 0
      earlier += hasEarlier[seat] ? 1 : 0
    }
    let share = 1 / Double(max(1, later, earlier))
    for device in 0..<devices where kept[node * devices + device].isFinite {
      let part = share * kept[node * devices + device]
      for seat in seats where ahead[seat] {
        handed[seat * devices + device] += part
        kept[node * devices + device] -= part
      }
    }
    for seat in seats { settle(seat) }
  }

  /// Returns a placement made node by node along the order, each node on the device with the least expected remaining
  /// cost.
  func rounded() -> [Int] {
    var rest = self
    var placement = Array(repeating: index.host, count: index.nodeCount)
    var held = Array(repeating: 0, count: index.valueCount)
    for node in index.order {
      var costs = Array(kept[node * devices..<(node + 1) * devices])
      for seat in seatsOf[node] {
        let value = valueOfSeat[seat]
        let base = value * sets
        let root = index.producer[value] < 0 ? index.host : placement[index.producer[value]]
        if !isMaker[seat] { rest.addReading(seat, -1) }
        for device in 0..<devices where costs[device].isFinite {
          var cheapest = Double.infinity
          if isMaker[seat] {
            for entry in 0..<setCount[value] {
              cheapest = min(cheapest, delivery(value, device, setList[entry]) + rest.reading[base + setList[entry]])
            }
          } else {
            let needed = held[value] | 1 << device
            for entry in 0..<setCount[value] where setList[entry] & needed == needed {
              cheapest = min(cheapest, delivery(value, root, setList[entry]) + rest.reading[base + setList[entry]])
            }
          }
          costs[device] += handed[seat * devices + device] + cheapest
        }
      }
      let best = costs.indices.min { costs[$0] < costs[$1] } ?? index.host
      placement[node] = best
      for value in index.inputs(of: node) { held[value] |= 1 << best }
    }
    return placement
  }
}
