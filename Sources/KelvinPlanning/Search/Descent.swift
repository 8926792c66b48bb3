/// Moves one node at a time to another device while that decreases the total.
struct Descent {
  private let index: ProblemIndex
  private let deliveries: DeliveryCosts
  private let seconds: [Double]
  private static let rounds = 12

  init(_ index: ProblemIndex, _ deliveries: DeliveryCosts, seconds: [Double]) {
    self.index = index
    self.deliveries = deliveries
    self.seconds = seconds
  }

  /// A placement, and the number of readers of each value on each device.
  private struct State {
    var placement: [Int]
    var readers: [Int32]
  }

  private func state(_ placement: [Int]) -> State {
    let count = index.deviceCount
    var readers = Array(repeating: Int32(0), count: index.valueCount * count)
    for node in 0..<index.nodeCount {
      for value in index.inputs(of: node) { readers[value * count + placement[node]] += 1 }
    }
    return State(placement: placement, readers: readers)
  }

  private func price(_ value: Int, root: Int, _ state: State) -> Double {
    let count = index.deviceCount
    var set = index.isOutput[value] ? 1 << index.host : 0
    for device in 0..<count where state.readers[value * count + device] > 0 { set |= 1 << device }
    return deliveries.seconds(value, from: root, to: set)
  }

  /// Returns the seconds that depend on the node's device.
  private func local(_ node: Int, _ state: State) -> Double {
    var sum = seconds[node * index.deviceCount + state.placement[node]]
    for value in index.inputs(of: node) {
      let producer = index.producer[value]
      sum += price(value, root: producer < 0 ? index.host : state.placement[producer], state)
    }
    for value in index.outputs(of: node) { sum += price(value, root: state.placement[node], state) }
    return sum
  }

  private func move(_ node: Int, to device: Int, _ state: inout State) {
    let count = index.deviceCount
    for value in index.inputs(of: node) {
      state.readers[value * count + state.placement[node]] -= 1
      state.readers[value * count + device] += 1
    }
    state.placement[node] = device
  }

  func improve(_ start: [Int]) -> [Int] {
    let count = index.deviceCount
    var state = state(start)
    for _ in 0..<Self.rounds {
      var improved = false
      for node in index.order {
        let home = state.placement[node]
        var best = (device: home, cost: local(node, state))
        for device in 0..<count where device != home && seconds[node * count + device].isFinite {
          move(node, to: device, &state)
          let cost = local(node, state)
          if cost < best.cost { best = (device, cost) }
        }
        move(node, to: best.device, &state)
        if best.device != home { improved = true }
      }
      if !improved { break }
    }
    return state.placement
  }

  /// Returns the total with each node on each device and all others as in `placement`, whose total is given: `node *
  /// devices + device`, infinite where the placement is not valid.
  func totals(around placement: [Int], _ total: Double) -> [Double] {
    let count = index.deviceCount
    var state = state(placement)
    var totals = Array(repeating: Double.infinity, count: index.nodeCount * count)
    for node in 0..<index.nodeCount {
      let home = placement[node]
      let before = local(node, state)
      for device in 0..<count where seconds[node * count + device].isFinite {
        move(node, to: device, &state)
        totals[node * count + device] = device == home ? total : total - before + local(node, state)
      }
      move(node, to: home, &state)
    }
    return totals
  }
}
