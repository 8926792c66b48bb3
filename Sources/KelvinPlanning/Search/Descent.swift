/// Moves one node at a time to another device while that lowers the total.
struct Descent {
  private let index: ProblemIndex
  private let costs: CopyCosts
  private let seconds: [Double]
  private static let rounds = 12

  init(_ index: ProblemIndex, _ costs: CopyCosts, seconds: [Double]) {
    self.index = index
    self.costs = costs
    self.seconds = seconds
  }

  func improve(_ start: [Int]) -> [Int] {
    let count = index.deviceCount
    var placement = start
    /// How many consumers of each value each device has.
    var consumers = Array(repeating: Int32(0), count: index.valueCount * count)
    for node in 0..<index.nodeCount {
      for value in index.inputs(of: node) { consumers[value * count + placement[node]] += 1 }
    }
    func price(_ value: Int, root: Int) -> Double {
      var set = index.isOutput[value] ? 1 << index.host : 0
      for device in 0..<count where consumers[value * count + device] > 0 { set |= 1 << device }
      return costs.reachTable[costs.table(of: value) + (1 << root) * costs.sets + set]
    }
    func local(_ node: Int) -> Double {
      var sum = seconds[node * count + placement[node]]
      for value in index.inputs(of: node) {
        sum += price(value, root: index.producer[value] < 0 ? index.host : placement[index.producer[value]])
      }
      for value in index.outputs(of: node) { sum += price(value, root: placement[node]) }
      return sum
    }
    func move(_ node: Int, to device: Int) {
      for value in index.inputs(of: node) {
        consumers[value * count + placement[node]] -= 1
        consumers[value * count + device] += 1
      }
      placement[node] = device
    }
    for _ in 0..<Self.rounds {
      var improved = false
      for node in index.order {
        let home = placement[node]
        var best = (device: home, cost: local(node))
        for device in 0..<count where device != home && seconds[node * count + device].isFinite {
          move(node, to: device)
          let cost = local(node)
          if cost < best.cost { best = (device, cost) }
        }
        move(node, to: best.device)
        if best.device != home { improved = true }
      }
      if !improved { break }
    }
    return placement
  }
}
