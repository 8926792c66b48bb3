/// Moves one node at a time to another device while that lowers the largest load, or, at the same largest load, the
/// serial sum.
struct BalanceDescent {
  private let loads: Loads
  private var routes: CopyRoutes
  private var index: ProblemIndex { loads.index }
  private static let rounds = 12
  private static let tolerance = 1e-12

  /// - Parameter weights: by which the routes of copies are chosen.
  init(_ loads: Loads, weights: [Double]) {
    self.loads = loads
    routes = CopyRoutes(loads, under: weights)
  }

  /// What a placement asks of the resources, kept up to date while nodes move.
  private struct State {
    var placement: [Int]
    var consumers: [Int32]
    var copies: [CopyRoutes.Route?]
    var loads: [Double]
    var serial = 0.0
  }

  private struct Undo {
    var loads: [Double]
    var serial: Double
  }

  /// - Parameter fixed: a node that stays where it is.
  /// - Returns: `nil` where some value cannot get where it is needed.
  mutating func improve(_ start: [Int], fixed: Int? = nil, rounds: Int = Self.rounds) -> BalancedPlan? {
    guard var state = state(start) else { return nil }
    for _ in 0..<rounds {
      var improved = false
      for node in index.order where node != fixed {
        let home = state.placement[node]
        var best = home
        var least = (peak: state.loads.max() ?? 0, serial: state.serial)
        for device in 0..<index.deviceCount
        where device != home && index.seconds(node, on: device).isFinite {
          let before = Undo(loads: state.loads, serial: state.serial)
          if move(node, to: device, &state) {
            let peak = state.loads.max() ?? 0
            let slack = Self.tolerance * least.peak
            if peak < least.peak - slack
              || peak <= least.peak + slack && state.serial < least.serial - Self.tolerance * least.serial
            {
              best = device
              least = (peak, state.serial)
            }
          }
          _ = move(node, to: home, &state)
          state.loads = before.loads
          state.serial = before.serial
        }
        if best != home {
          _ = move(node, to: best, &state)
          improved = true
        }
      }
      if !improved { break }
    }
    return plan(state)
  }

  /// The largest load with each node on each device and all others as in `plan`, `node * devices + device`; infinite
  /// where that cannot be.
  mutating func peaks(around plan: BalancedPlan) -> [Double] {
    let count = index.deviceCount
    var peaks = Array(repeating: Double.infinity, count: index.seconds.count)
    guard var state = state(plan.placement) else { return peaks }
    for node in 0..<index.nodeCount {
      let home = state.placement[node]
      peaks[node * count + home] = plan.peak
      for device in 0..<count where device != home && index.seconds(node, on: device).isFinite {
        let before = Undo(loads: state.loads, serial: state.serial)
        if move(node, to: device, &state) { peaks[node * count + device] = state.loads.max() ?? 0 }
        _ = move(node, to: home, &state)
        state.loads = before.loads
        state.serial = before.serial
      }
    }
    return peaks
  }

  private func plan(_ state: State) -> BalancedPlan? {
    let evaluation = Evaluation(index, state.placement) { value, _, _ in state.copies[value]?.tree }
    return evaluation.map { BalancedPlan(loads, state.placement, $0) }
  }

  private mutating func state(_ placement: [Int]) -> State? {
    let count = index.deviceCount
    var state = State(
      placement: placement, consumers: Array(repeating: 0, count: index.valueCount * count),
      copies: Array(repeating: nil, count: index.valueCount), loads: Array(repeating: 0, count: loads.count))
    for node in 0..<index.nodeCount {
      for value in index.inputs(of: node) { state.consumers[value * count + placement[node]] += 1 }
      loads.add(node, on: placement[node], to: &state.loads)
      state.serial += index.seconds(node, on: placement[node])
    }
    for value in 0..<index.valueCount {
      guard let route = route(value, state) else { return nil }
      state.copies[value] = route
      add(route, 1, value, &state)
    }
    return state
  }

  private mutating func route(_ value: Int, _ state: State) -> CopyRoutes.Route? {
    let count = index.deviceCount
    var set = index.isOutput[value] ? 1 << index.host : 0
    for device in 0..<count where state.consumers[value * count + device] > 0 { set |= 1 << device }
    let producer = index.producer[value]
    return routes.routes(value, root: producer < 0 ? index.host : state.placement[producer], reaching: set).first
  }

  private func add(_ route: CopyRoutes.Route, _ sign: Double, _ value: Int, _ state: inout State) {
    for load in 0..<loads.count { state.loads[load] += sign * route.loads[load] }
    for (to, from) in route.tree.enumerated() where from >= 0 {
      state.serial += sign * index.copySeconds(index.cargo(value), from: from, to: to)
    }
  }

  /// - Returns: false where a value then cannot get where it is needed; the loads are then meaningless.
  private mutating func move(_ node: Int, to device: Int, _ state: inout State) -> Bool {
    let count = index.deviceCount
    let home = state.placement[node]
    for value in index.inputs(of: node) { remove(value, &state) }
    for value in index.outputs(of: node) { remove(value, &state) }
    for value in index.inputs(of: node) {
      state.consumers[value * count + home] -= 1
      state.consumers[value * count + device] += 1
    }
    loads.add(node, on: home, to: &state.loads, times: -1)
    loads.add(node, on: device, to: &state.loads)
    state.serial += index.seconds(node, on: device) - index.seconds(node, on: home)
    state.placement[node] = device
    var isReached = true
    for value in index.inputs(of: node) { isReached = bring(value, &state) && isReached }
    for value in index.outputs(of: node) { isReached = bring(value, &state) && isReached }
    return isReached
  }

  private func remove(_ value: Int, _ state: inout State) {
    if let route = state.copies[value] { add(route, -1, value, &state) }
    state.copies[value] = nil
  }

  private mutating func bring(_ value: Int, _ state: inout State) -> Bool {
    guard let route = route(value, state) else { return false }
    state.copies[value] = route
    add(route, 1, value, &state)
    return true
  }
}
