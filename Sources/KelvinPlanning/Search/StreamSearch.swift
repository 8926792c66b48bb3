/// Plans that stream some of the weights for which their devices lack memory.
///
/// With a price `λ` on each byte that stays on a device, a node there costs the less of `λ` times the bytes that it may
/// stream and the seconds of their copies, besides `λ` times its other bytes. As in `WeightSearch`, the least priced cost
/// minus `λ C` is a lower bound. The largest streamed node decides the size of the ring, so plans are searched in classes
/// of it: `C` lacks the least ring of a class. Values are left out of the price; each plan is checked with them.
struct StreamSearch {
  private let search: LatencySearch
  private let memory: MemoryLimits
  private(set) var best: LatencySearch.Found?
  private(set) var lowerBound: Double
  private let limited: [Int]
  private var index: ProblemIndex { search.index }
  private static let mostSteps = 24
  private static let mostClasses = 4

  /// The plans whose largest streamed node has a size of a range.
  private struct Class {
    /// The bytes that the ring leaves of each device's memory at most.
    var capacities: [Double]
    /// As `ProblemIndex.streamSeconds`, infinite for larger nodes.
    var seconds: [Double]
  }

  /// - Parameters:
  ///   - best: a plan within the limits, if one is known.
  ///   - lowerBound: a lower bound of every plan, streams or not.
  init(_ search: LatencySearch, _ memory: MemoryLimits, best: LatencySearch.Found?, lowerBound: Double) {
    (self.search, self.memory, self.best, self.lowerBound) = (search, memory, best, lowerBound)
    limited = (0..<search.index.deviceCount).filter { search.index.memory[$0] != .max }
  }

  /// - Parameter others: a lower bound of the plans that stream nothing.
  mutating func run(others: Double) throws(PlanningError) {
    var least = others
    for part in classes { least = min(least, try bound(part)) }
    if var found = best {
      memory.improve(&found, search.deliveries)
      best = found
      least = min(least, found.evaluation.total)
    }
    if least.isFinite { lowerBound = max(lowerBound, least) }
  }

  private var classes: [Class] {
    let count = index.deviceCount
    let own = index.streamSeconds.indices.map { entry in
      index.streamSeconds[entry].isFinite && limited.contains(entry % count)
        ? index.ownBytes(of: entry / count, on: entry % count) : 0
    }
    let sizes = Set(own).subtracting([0]).sorted()
    let number = limited.count == 1 ? min(sizes.count, Self.mostClasses) : min(sizes.count, 1)
    return (0..<number).map { part in
      let range = sizes[sizes.count * part / number..<sizes.count * (part + 1) / number]
      let (smallest, largest) = (range.first ?? 0, range.last ?? 0)
      // Of several devices, only one need have the largest node.
      let ring = limited.count == 1 ? Double(PlanningProblem.ringPlaces * smallest) : 0
      return Class(
        capacities: index.memory.map { Double($0) - ring },
        seconds: zip(own, index.streamSeconds).map { $0 > 0 && $0 <= largest ? $1 : .infinity })
    }
  }

  /// Searches the price of each device by bisection, and returns the largest bound of a class.
  private mutating func bound(_ part: Class) throws(PlanningError) -> Double {
    guard limited.allSatisfy({ part.capacities[$0] >= 0 }) else { return .infinity }
    var prices = Array(repeating: 0.0, count: index.deviceCount)
    var bound = lowerBound
    for device in limited {
      var (low, high) = (0.0, Double.infinity)
      let unit = lowerBound / max(part.capacities[device], 1)
      for _ in 0..<Self.mostSteps {
        prices[device] = high.isFinite ? (low + high) / 2 : max(2 * low, unit)
        let found = try search.placement(seconds: seconds(prices, part))
        bound = max(bound, found.lowerBound - limited.reduce(0) { $0 + prices[$1] * part.capacities[$1] })
        consider(found)
        if let best, bound >= best.evaluation.total { return bound }
        if kept(found.placement, prices, part, on: device) > part.capacities[device] {
          low = prices[device]
        } else {
          high = prices[device]
        }
      }
      if high.isFinite { prices[device] = high }
    }
    return bound
  }

  private mutating func consider(_ found: LatencySearch.Found) {
    guard let evaluation = memory.fitted(found.placement, found.evaluation),
      best.map({ evaluation.total < $0.evaluation.total }) ?? true
    else { return }
    best = found
    best?.evaluation = evaluation
  }

  /// The bytes of a node's weights that it may stream, and those that stay; shared ones divided among their readers.
  private func bytes(_ node: Int, _ device: Int) -> (own: Double, shared: Double) {
    index.weights(of: node).filter { index.keeps($0, on: device) }.reduce(into: (0, 0)) { bytes, weight in
      let share = Double(index.weightBytes[weight]) / Double(index.weightReaders[weight])
      if index.weightReaders[weight] == 1 { bytes.own += share } else { bytes.shared += share }
    }
  }

  private func seconds(_ prices: [Double], _ part: Class) -> [Double] {
    var seconds = index.seconds
    for entry in seconds.indices where prices[entry % index.deviceCount] > 0 {
      let price = prices[entry % index.deviceCount]
      let (own, shared) = bytes(entry / index.deviceCount, entry % index.deviceCount)
      seconds[entry] += price * shared + min(price * own, part.seconds[entry])
    }
    return seconds
  }

  /// The bytes that stay on a device at these prices.
  private func kept(_ placement: [Int], _ prices: [Double], _ part: Class, on device: Int) -> Double {
    placement.indices.reduce(0) { sum, node in
      guard placement[node] == device else { return sum }
      let (own, shared) = bytes(node, device)
      let streams = prices[device] * own > part.seconds[node * index.deviceCount + device]
      return sum + shared + (streams ? 0 : own)
    }
  }
}
