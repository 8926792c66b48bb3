/// A placement with the loads of its resources, updated while nodes move.
struct BalanceState {
  private(set) var placement: [Int]
  /// The loads, then the serial sum.
  private(set) var sums: [Double]
  /// The value of `sums` after the move that was weighed last.
  private(set) var weighed: [Double]

  private let loads: Loads
  private var routes: RouteTable
  /// The number of readers of each value on each device, and the set of devices with a reader or another need.
  private var readers: [Int32]
  private var wanted: [Int]
  private var index: ProblemIndex { loads.index }

  /// - Returns: `nil` when a value cannot reach a device that needs it.
  init?(_ loads: Loads, _ routes: RouteTable, _ placement: [Int]) {
    let index = loads.index
    let count = index.deviceCount
    self.loads = loads
    self.routes = routes
    self.placement = placement
    readers = Array(repeating: 0, count: index.valueCount * count)
    wanted = index.isOutput.map { $0 ? 1 << index.host : 0 }
    sums = Array(repeating: 0, count: loads.count + 1)
    weighed = sums
    for node in 0..<index.nodeCount {
      for value in index.inputs(of: node) {
        readers[value * count + placement[node]] += 1
        wanted[value] |= 1 << placement[node]
      }
      loads.add(node, on: placement[node], to: &sums)
      sums[loads.count] += index.seconds(node, on: placement[node])
    }
    weighed = sums
    for value in 0..<index.valueCount {
      guard add(value, from: root(of: value), to: wanted[value], 1) else { return nil }
    }
    sums = weighed
  }

  var peak: Double { largest(sums) }
  var serial: Double { sums[loads.count] }
  var weighedPeak: Double { largest(weighed) }
  var weighedSerial: Double { weighed[loads.count] }

  private func largest(_ sums: [Double]) -> Double {
    var most = 0.0
    for load in 0..<loads.count { most = max(most, sums[load]) }
    return most
  }

  private func root(of value: Int) -> Int {
    index.producer[value] < 0 ? index.host : placement[index.producer[value]]
  }

  private mutating func add(_ value: Int, from root: Int, to set: Int, _ sign: Double) -> Bool {
    if set & ~(1 << root) == 0 { return true }
    guard let route = routes.route(value, from: root, to: set | 1 << root) else { return false }
    let base = route * routes.stride
    for load in 0..<routes.stride { weighed[load] += sign * routes.sums[base + load] }
    return true
  }

  /// Returns the set of devices that need `value` when one reader moves from `home` to `device`.
  private func wanted(_ value: Int, from home: Int, to device: Int) -> Int {
    let isLast = readers[value * index.deviceCount + home] == 1 && !(index.isOutput[value] && home == index.host)
    return (isLast ? wanted[value] & ~(1 << home) : wanted[value]) | 1 << device
  }

  /// Computes in `weighed` the sums with the node on `device`.
  ///
  /// - Returns: false when a value then cannot reach a device that needs it.
  mutating func weigh(_ node: Int, on device: Int) -> Bool {
    let home = placement[node]
    for load in sums.indices { weighed[load] = sums[load] }
    loads.add(node, on: home, to: &weighed, times: -1)
    loads.add(node, on: device, to: &weighed)
    weighed[loads.count] += index.seconds(node, on: device) - index.seconds(node, on: home)
    for value in index.inputs(of: node) {
      let root = root(of: value)
      guard add(value, from: root, to: wanted[value], -1),
        add(value, from: root, to: wanted(value, from: home, to: device), 1)
      else { return false }
    }
    for value in index.outputs(of: node) {
      guard add(value, from: home, to: wanted[value], -1), add(value, from: device, to: wanted[value], 1)
      else { return false }
    }
    return true
  }

  /// Makes the move that was weighed last.
  mutating func move(_ node: Int, to device: Int) {
    let home = placement[node]
    let count = index.deviceCount
    for value in index.inputs(of: node) {
      wanted[value] = wanted(value, from: home, to: device)
      readers[value * count + home] -= 1
      readers[value * count + device] += 1
    }
    placement[node] = device
    for load in sums.indices { sums[load] = weighed[load] }
  }

  /// Returns the placement with its copies.
  func plan() -> BalancedPlan? {
    var routes = routes
    let evaluation = Evaluation(index, placement) { value, root, targets in
      routes.route(value, from: root, to: targets | 1 << root).map { routes.trees[$0] }
    }
    return evaluation.map { BalancedPlan(loads, placement, $0) }
  }
}
