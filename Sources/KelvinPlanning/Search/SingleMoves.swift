/// Upper bounds of marginals: one node elsewhere, all others as in a plan.
struct SingleMoves: Marginals {
  private(set) var totals: [Double]
  var isExact: Bool { false }
  private let base: [Int]

  /// - Returns: `nil` when the placement is not valid.
  init?(_ index: ProblemIndex, _ deliveries: DeliveryCosts, _ placement: [Int]) {
    guard let total = Evaluation(index, placement)?.total else { return nil }
    totals = Descent(index, deliveries, seconds: index.seconds).totals(around: placement, total)
    base = placement
  }

  /// Leaves out the moves after which a device's memory does not suffice; all moves of a large graph. Weights that must
  /// be streamed are chosen anew for each.
  init?(_ index: ProblemIndex, _ deliveries: DeliveryCosts, _ placement: [Int], within memory: MemoryLimits) {
    self.init(index, deliveries, placement)
    guard let stays = memory.evaluation(placement)?.total else { return nil }
    let isChecked = totals.count <= Self.mostChecked
    for entry in totals.indices where totals[entry].isFinite {
      let (node, device) = (entry / index.deviceCount, entry % index.deviceCount)
      var moved = placement
      moved[node] = device
      if placement[node] == device {
        if !index.streamSeconds.isEmpty { totals[entry] = stays }
      } else if let total = isChecked ? memory.evaluation(moved)?.total : nil {
        if !index.streamSeconds.isEmpty { totals[entry] = total }
      } else {
        totals[entry] = .infinity
      }
    }
  }

  private static let mostChecked = 4_096

  func placement(with node: Int, on device: Int) -> [Int]? {
    var placement = base
    placement[node] = device
    return placement
  }
}
