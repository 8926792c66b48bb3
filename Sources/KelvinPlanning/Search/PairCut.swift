/// The best choice between two devices for many nodes at once, with all other nodes fixed: a minimum cut.
///
/// Nodes on the source's side run on the first device, nodes on the sink's side on the second. For a value of a node
/// with a choice, one vertex for each direction represents its copy, between the producer and all readers, so that the
/// copy is paid once: Stone, "Multiprocessor scheduling with the aid of network flow algorithms", IEEE TSE 3(1), 1977,
/// with the net vertex of Ihler, Wagner and Wagner, IPL 45(4), 1993.
///
/// For a value produced elsewhere, let `a`, `b` and `ab` be the seconds with readers on the first device only, the
/// second only, and both. They equal `(a + b − ab) + (ab − b) [any on the first] + (ab − a) [any on the second]`, and
/// `ab` is at least `a` and `b`. Both constructions allow for relays and for the needs of other devices, so the cut is
/// optimal.
///
/// Among equal plans, the cut has the fewest nodes on the second device.
struct PairCut {
  let first: Int
  let second: Int
  /// `nil` when the nodes cannot be placed.
  private(set) var placement: [Int]?
  /// A lower bound of the total over all choices, including nodes and copies that do not depend on them.
  private(set) var lowerBound = 0.0
  /// Whether the placement costs no more than the bound, apart from rounding.
  private(set) var isExact = false
  private(set) var work = 0
  /// A node that cannot be placed, when `placement` is `nil`.
  private(set) var culprit = 0

  private let index: ProblemIndex
  private let deliveries: DeliveryCosts
  private let around: [Int]
  /// The vertex of each node; -1 if it has no choice.
  private var vertex: [Int]
  /// The seconds of each vertex alone on either side.
  private var onFirst: [Double] = []
  private var onSecond: [Double] = []
  private var arcs: [Arc] = []
  /// The solved cut, and its capacity per second.
  private var cut = MinimumCut(vertices: 0)
  private var scale = 1.0
  /// The flow from which a cut may cross a reduced capacity, and then costs more than the flow indicates.
  private var clipped = Int.max

  /// The seconds when `from` is on the first device's side and `to` on the second's; `back` applies to the opposite
  /// case.
  private struct Arc {
    var from: Int
    var to: Int
    var seconds: Double
    var back: Double
  }

  /// Capacities are integers. A possible choice has at most `largest`. An impossible one has `never`, which still
  /// exceeds `ceiling` after all possible flow has passed through it.
  private static let largest = 0x1p58
  private static let ceiling = 1 << 59
  private static let never = 1 << 60
  /// The relative rounding error of the optimum above which capacities are scaled more finely.
  private static let tolerance = 1e-11
  private static let mostPasses = 8
  /// The least seconds that capacities are scaled to, so that the scale is finite.
  private static let leastSeconds = 1e-250

  /// - Parameters:
  ///   - placement: the devices of nodes that may not run on both devices, and of nodes excluded by `mayMove`.
  ///   - limit: an upper bound of the best total, in seconds.
  init(
    _ index: ProblemIndex, _ deliveries: DeliveryCosts, seconds: [Double], between first: Int, and second: Int,
    placement: [Int], limit: Double = .infinity, mayMove: (Int) -> Bool = { _ in true }
  ) {
    self.index = index
    self.deliveries = deliveries
    self.first = first
    self.second = second
    around = placement
    vertex = Array(repeating: -1, count: index.nodeCount)
    let count = index.deviceCount
    var constant = 0.0
    for node in 0..<index.nodeCount {
      let (one, two) = (seconds[node * count + first], seconds[node * count + second])
      if one.isFinite, two.isFinite, mayMove(node) {
        vertex[node] = newVertex(onFirst: one, onSecond: two)
      } else {
        constant += seconds[node * count + placement[node]]
      }
    }
    for value in 0..<index.valueCount {
      constant += add(value)
      guard constant.isFinite else {
        culprit = index.readers(of: value).first ?? max(0, index.producer[value])
        return
      }
    }
    for vertex in onFirst.indices {
      let least = min(onFirst[vertex], onSecond[vertex])
      constant += least
      guard constant.isFinite else {
        culprit = self.vertex.firstIndex(of: vertex) ?? 0
        return
      }
      onFirst[vertex] -= least
      onSecond[vertex] -= least
    }
    // The difference of two large sums is rounded.
    solve(constant, limit: limit - constant + Self.tolerance * limit)
  }

  private mutating func newVertex(onFirst: Double = 0, onSecond: Double = 0) -> Int {
    self.onFirst.append(onFirst)
    self.onSecond.append(onSecond)
    return self.onFirst.count - 1
  }

  /// - Returns: the seconds that do not depend on the choice.
  private mutating func add(_ value: Int) -> Double {
    var set = index.isOutput[value] ? 1 << index.host : 0
    var readers: [Int] = []
    for node in index.readers(of: value) {
      if vertex[node] >= 0 { readers.append(vertex[node]) } else { set |= 1 << around[node] }
    }
    let producer = index.producer[value]
    let (one, two) = (set | 1 << first, set | 1 << second)
    func cost(_ root: Int, _ set: Int) -> Double { deliveries.seconds(value, from: root, to: set) }
    guard producer >= 0, vertex[producer] >= 0 else {
      let root = producer < 0 ? index.host : around[producer]
      if readers.isEmpty { return cost(root, set) }
      let (a, b, both) = (cost(root, one), cost(root, two), cost(root, one | two))
      if a.isFinite, b.isFinite {
        any(readers, onFirst: both - b, onSecond: both - a)
        return a + b - both
      }
      any(readers, onFirst: a.isFinite ? 0 : .infinity, onSecond: b.isFinite ? 0 : .infinity)
      return min(a, b)
    }
    let maker = vertex[producer]
    let (stays, goes) = (cost(first, set), cost(second, set))
    onFirst[maker] += stays
    onSecond[maker] += goes
    copy(
      from: maker, to: readers, seconds: stays.isFinite ? cost(first, two) - stays : 0,
      back: goes.isFinite ? cost(second, one) - goes : 0)
    return 0
  }

  /// Adds seconds paid once if any of `readers` is on a device.
  private mutating func any(_ readers: [Int], onFirst: Double, onSecond: Double) {
    if readers.count == 1 {
      self.onFirst[readers[0]] += onFirst
      self.onSecond[readers[0]] += onSecond
      return
    }
    if onFirst > 0 {
      let one = newVertex(onFirst: onFirst)
      for reader in readers { arcs.append(Arc(from: reader, to: one, seconds: .infinity, back: 0)) }
    }
    if onSecond > 0 {
      let two = newVertex(onSecond: onSecond)
      for reader in readers { arcs.append(Arc(from: two, to: reader, seconds: .infinity, back: 0)) }
    }
  }

  /// Adds seconds paid once if `maker` is on the first device and any of `readers` on the second; `back` applies to the
  /// opposite case.
  private mutating func copy(from maker: Int, to readers: [Int], seconds: Double, back: Double) {
    if readers.count == 1 {
      arcs.append(Arc(from: maker, to: readers[0], seconds: seconds, back: back))
      return
    }
    if seconds > 0, !readers.isEmpty {
      let copied = newVertex()
      arcs.append(Arc(from: maker, to: copied, seconds: seconds, back: 0))
      for reader in readers { arcs.append(Arc(from: copied, to: reader, seconds: .infinity, back: 0)) }
    }
    if back > 0, !readers.isEmpty {
      let copied = newVertex()
      arcs.append(Arc(from: copied, to: maker, seconds: back, back: 0))
      for reader in readers { arcs.append(Arc(from: reader, to: copied, seconds: .infinity, back: 0)) }
    }
  }

  /// Solves the cut with capacities scaled ever more finely, until the best placement meets the bound.
  ///
  /// The optimum costs at most `limit`, so capacities are reduced to twice that: a cut that crosses a reduced one then
  /// still costs more than the optimum.
  private mutating func solve(_ constant: Double, limit: Double) {
    var limit = min(limit, most())
    var best = Double.infinity
    for _ in 0..<Self.mostPasses {
      let clip = max(2 * limit, Self.leastSeconds)
      scale = Self.largest / clip
      func capacity(_ seconds: Double) -> Int {
        seconds == .infinity ? Self.never : Int(min(max(0, seconds), clip) * scale)
      }
      cut = MinimumCut(vertices: onFirst.count)
      cut.reserve(arcs: arcs.count)
      for vertex in onFirst.indices { cut.tie(vertex, capacity(onSecond[vertex]) - capacity(onFirst[vertex])) }
      for arc in arcs { cut.add(arc.from, arc.to, capacity(arc.seconds), back: capacity(arc.back)) }
      clipped = capacity(clip)
      cut.run(ceiling: Self.ceiling)
      work += cut.work
      if cut.flow >= Self.ceiling {
        culprit = firstForcedBothWays()
        return
      }
      lowerBound = max(lowerBound, constant + Double(cut.flow) / scale)
      let found = seconds(across: cut)
      if found < best {
        best = found
        placement = (0..<index.nodeCount).map { node in
          vertex[node] < 0 ? around[node] : cut.isOnSinkSide(vertex[node]) ? second : first
        }
      }
      isExact = constant + best - lowerBound <= Self.tolerance * lowerBound
      if isExact || found >= limit { return }
      limit = found
    }
  }

  /// Returns the additional seconds of the least total with a node on its other device.
  ///
  /// - Returns: infinite when the node cannot be there. `nil` when the answer takes more than `moves`, or when costs
  ///   differ so much that the flow is too coarse.
  mutating func excess(moving node: Int, moves: Int) -> Double? {
    guard vertex[node] >= 0 else { return .infinity }
    let before = cut.work
    defer { work += cut.work - before }
    guard let excess = cut.excess(movingAway: vertex[node], limit: moves, ceiling: Self.ceiling) else { return nil }
    if excess >= Self.ceiling { return .infinity }
    return cut.flow + excess < clipped ? Double(excess) / scale : nil
  }

  /// Returns a node that other nodes force onto the first device and that it, or they, must have on the second.
  private func firstForcedBothWays() -> Int {
    var next: [[Int]] = Array(repeating: [], count: onFirst.count)
    for arc in arcs {
      if arc.seconds == .infinity { next[arc.from].append(arc.to) }
      if arc.back == .infinity { next[arc.to].append(arc.from) }
    }
    var nodeOf = Array(repeating: -1, count: onFirst.count)
    for (node, vertex) in vertex.enumerated() where vertex >= 0 { nodeOf[vertex] = node }
    var blamed = onSecond.map { $0 == .infinity ? 0 : -1 }
    var pending = onSecond.indices.filter { onSecond[$0] == .infinity }
    for vertex in pending { blamed[vertex] = max(0, nodeOf[vertex]) }
    while let vertex = pending.popLast() {
      if onFirst[vertex] == .infinity { return blamed[vertex] }
      for other in next[vertex] where blamed[other] < 0 {
        blamed[other] = nodeOf[other] >= 0 ? nodeOf[other] : blamed[vertex]
        pending.append(other)
      }
    }
    return 0
  }

  /// Returns an upper bound of the seconds of every possible choice.
  private func most() -> Double {
    var sum = 0.0
    for seconds in onFirst where seconds.isFinite { sum += seconds }
    for seconds in onSecond where seconds.isFinite { sum += seconds }
    for arc in arcs { sum += (arc.seconds.isFinite ? arc.seconds : 0) + (arc.back.isFinite ? arc.back : 0) }
    return sum
  }

  private func seconds(across cut: MinimumCut) -> Double {
    var sum = 0.0
    for vertex in onFirst.indices { sum += cut.isOnSinkSide(vertex) ? onSecond[vertex] : onFirst[vertex] }
    for arc in arcs {
      let (from, to) = (cut.isOnSinkSide(arc.from), cut.isOnSinkSide(arc.to))
      if !from, to { sum += arc.seconds }
      if from, !to { sum += arc.back }
    }
    return sum
  }
}
