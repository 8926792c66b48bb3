/// Marginals for nodes that choose between two devices: the additional flow when a node may not stay on its side of the
/// cut.
struct CutMarginals: Marginals {
  private(set) var totals: [Double]
  private(set) var isExact = true
  private let index: ProblemIndex
  private let deliveries: DeliveryCosts
  private let pair: DevicePair

  /// - Parameters:
  ///   - cut: a solved cut, with its placement.
  ///   - moves: the budget in moves. Nodes beyond it get the cost of a single move.
  init?(
    _ index: ProblemIndex, _ deliveries: DeliveryCosts, _ pair: DevicePair, _ solved: (cut: PairCut, placement: [Int]),
    moves: Int
  ) {
    self.index = index
    self.deliveries = deliveries
    self.pair = pair
    let count = index.deviceCount
    totals = Array(repeating: .infinity, count: index.nodeCount * count)
    var (cut, best) = solved
    guard let total = Evaluation(index, best)?.total else { return nil }
    let stop = cut.work + moves
    let alone = Descent(index, deliveries, seconds: index.seconds).totals(around: best, total)
    for node in 0..<index.nodeCount {
      totals[node * count + best[node]] = total
      let other = best[node] == pair.first ? pair.second : pair.first
      guard other != best[node], index.seconds(node, on: other).isFinite else { continue }
      if let excess = cut.excess(moving: node, moves: max(0, stop - cut.work)) {
        totals[node * count + other] = total + excess
      } else {
        isExact = false
        totals[node * count + other] = alone[node * count + other]
      }
    }
  }

  func placement(with node: Int, on device: Int) -> [Int]? {
    var placement = pair.placement
    placement[node] = device
    return PairCut(
      index, deliveries, seconds: index.seconds, between: pair.first, and: pair.second, placement: placement,
      mayMove: { $0 != node }
    ).placement
  }
}
