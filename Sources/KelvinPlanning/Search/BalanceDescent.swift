import Glibc
import KelvinBasics

/// Moves one node at a time to another device while that decreases the largest load, or, at the same largest load, the
/// serial sum. Annealing also makes moves that increase it.
struct BalanceDescent {
  private let loads: Loads
  private let routes: RouteTable
  private var index: ProblemIndex { loads.index }
  private static let rounds = 12
  private static let tolerance = 1e-12

  /// - Parameter weights: the weights by which the routes of copies are chosen.
  init(_ loads: Loads, weights: [Double]) {
    self.loads = loads
    routes = RouteTable(loads, under: weights)
  }

  /// - Parameter fixed: a node that does not move.
  /// - Returns: `nil` when a value cannot reach a device that needs it.
  func improve(_ start: [Int], fixed: Int? = nil, rounds: Int = Self.rounds) -> BalancedPlan? {
    guard var state = BalanceState(loads, routes, start) else { return nil }
    descend(&state, fixed: fixed, rounds: rounds)
    return state.plan()
  }

  private func descend(_ state: inout BalanceState, fixed: Int? = nil, rounds: Int = Self.rounds) {
    for _ in 0..<rounds {
      var improved = false
      for node in index.order where node != fixed {
        let home = state.placement[node]
        var best = home
        var least = (peak: state.peak, serial: state.serial)
        for device in 0..<index.deviceCount
        where device != home && index.seconds(node, on: device).isFinite && state.weigh(node, on: device) {
          let (peak, serial) = (state.weighedPeak, state.weighedSerial)
          let slack = Self.tolerance * least.peak
          if peak < least.peak - slack
            || peak <= least.peak + slack && serial < least.serial - Self.tolerance * least.serial
          {
            best = device
            least = (peak, serial)
          }
        }
        if best != home, state.weigh(node, on: best) {
          state.move(node, to: best)
          improved = true
        }
      }
      if !improved { break }
    }
  }

  /// Improves a placement by simulated annealing: Kirkpatrick, Gelatt and Vecchi, Science 220, 1983.
  ///
  /// The objective is a smooth maximum of the loads, `t log Σ exp(load / t)` with `t` twice the temperature, so that
  /// load can move between resources in several steps. The same start and seed give the same result.
  ///
  /// - Parameter heat: the first temperature, as a multiple of a node's mean seconds.
  /// - Returns: the plan after a final descent; `nil` when `start` is not a valid placement.
  func anneal(_ start: [Int], heat: Double, steps: Int, seed: UInt64) -> BalancedPlan? {
    guard var state = BalanceState(loads, routes, start) else { return nil }
    let count = index.deviceCount
    let free = (0..<index.nodeCount).filter { node in
      (0..<count).count { index.seconds(node, on: $0).isFinite } > 1
    }
    guard !free.isEmpty, state.serial > 0 else { return state.plan() }
    var random = SeededGenerator(seed: seed)
    let hottest = heat * state.serial / Double(index.nodeCount)
    var temperature = hottest
    for step in 0..<steps {
      if step % Self.stepsPerHeat == 0 { temperature = hottest * pow(Self.cooling, Double(step) / Double(steps)) }
      let node = free[Int.random(in: 0..<free.count, using: &random)]
      let device = Int.random(in: 0..<count, using: &random)
      let chance = Double.random(in: 0..<1, using: &random)
      guard device != state.placement[node], index.seconds(node, on: device).isFinite, state.weigh(node, on: device)
      else { continue }
      let rise = smoothLargest(state.weighed, 2 * temperature) - smoothLargest(state.sums, 2 * temperature)
      if rise <= 0 || chance < exp(-rise / temperature) { state.move(node, to: device) }
    }
    descend(&state)
    return state.plan()
  }

  private static let stepsPerHeat = 64
  /// The last temperature as a fraction of the first.
  private static let cooling = 3e-3

  private func smoothLargest(_ sums: [Double], _ smooth: Double) -> Double {
    var most = 0.0
    for load in 0..<loads.count { most = max(most, sums[load]) }
    var sum = 0.0
    for load in 0..<loads.count { sum += exp((sums[load] - most) / smooth) }
    return most + smooth * log(sum)
  }

  /// Returns the largest load with each node on each device and all others as in `plan`, `node * devices + device`;
  /// infinite where the placement is not valid.
  func peaks(around plan: BalancedPlan) -> [Double] {
    let count = index.deviceCount
    var peaks = Array(repeating: Double.infinity, count: index.seconds.count)
    guard var state = BalanceState(loads, routes, plan.placement) else { return peaks }
    for node in 0..<index.nodeCount {
      for device in 0..<count where index.seconds(node, on: device).isFinite {
        if device == plan.placement[node] {
          peaks[node * count + device] = plan.peak
        } else if state.weigh(node, on: device) {
          peaks[node * count + device] = state.weighedPeak
        }
      }
    }
    return peaks
  }
}
