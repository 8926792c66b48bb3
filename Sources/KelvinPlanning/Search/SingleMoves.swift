/// Upper bounds of marginals: one node elsewhere, all others as in a plan.
struct SingleMoves: Marginals {
  let totals: [Double]
  var isExact: Bool { false }
  private let base: [Int]

  /// - Returns: `nil` when the placement is not valid.
  init?(_ index: ProblemIndex, _ deliveries: DeliveryCosts, _ placement: [Int]) {
    guard let total = Evaluation(index, placement)?.total else { return nil }
    totals = Descent(index, deliveries, seconds: index.seconds).totals(around: placement, total)
    base = placement
  }

  func placement(with node: Int, on device: Int) -> [Int]? {
    var placement = base
    placement[node] = device
    return placement
  }
}
