/// The best known placement of a graph that is too wide to enumerate, with a lower bound.
///
/// Placements are rounded from `MessagePassing` as its bound rises, descend node by node, and are then improved by
/// cuts. For each two devices, a `PairCut` chooses again between them for the nodes on either, with all others fixed
/// (the swap moves of Boykov, Veksler and Zabih, PAMI 23(11), 2001).
struct WidePlan {
  private let index: ProblemIndex
  private let deliveries: DeliveryCosts
  private let seconds: [Double]
  private let descent: Descent
  private var weighed: ProblemIndex

  private(set) var placement: [Int] = []
  /// Infinite while no placement is known.
  private(set) var total = Double.infinity
  private(set) var lowerBound = 0.0
  private(set) var states = 0
  private(set) var handed: [Double] = []

  private static let mostPasses = 400
  private static let passesBetweenRoundings = 8
  /// The relative increase of the bound between two roundings below which the passes end.
  private static let leastProgress = 1e-4
  private static let tolerance = 1e-12

  init(_ index: ProblemIndex, _ deliveries: DeliveryCosts, seconds: [Double]) {
    self.index = index
    self.deliveries = deliveries
    self.seconds = seconds
    descent = Descent(index, deliveries, seconds: seconds)
    weighed = index
    weighed.seconds = seconds
  }

  var isExact: Bool { total - lowerBound <= 1e-9 * total }

  /// Adopts the result of a descent from `start` if it is better.
  mutating func consider(_ start: [Int]) { adopt(descent.improve(start)) }

  private mutating func adopt(_ placement: [Int]) {
    guard let found = Evaluation(weighed, placement)?.total,
      total == .infinity || found < total * (1 - Self.tolerance)
    else { return }
    self.placement = placement
    total = found
  }

  /// - Parameters:
  ///   - handed: the initial state of the bound's search.
  ///   - isPolished: whether cuts improve the plan at the end.
  mutating func improve(budget: Int, from handed: [Double]?, isPolished: Bool) {
    guard total.isFinite else { return }
    var messages = MessagePassing(index, deliveries, seconds: seconds, known: total, handed: handed)
    let passes = min(Self.mostPasses, budget / 4 / max(1, messages.moves))
    var before = messages.bound
    for pass in 0..<max(1, passes) {
      messages.pass()
      guard (pass + 1) % Self.passesBetweenRoundings == 0 || pass + 1 == passes else { continue }
      lowerBound = messages.bound
      consider(messages.rounded())
      if isExact || messages.bound - before < Self.leastProgress * messages.bound { break }
      before = messages.bound
    }
    lowerBound = messages.bound
    states += messages.work
    self.handed = messages.handed
    if !isExact, isPolished { swap() }
  }

  /// Cuts between each two devices until no cut improves the plan.
  private mutating func swap() {
    let count = index.deviceCount
    var pending = count * (count - 1) / 2
    while pending > 0 {
      for second in 1..<max(1, count) {
        for first in 0..<second where pending > 0 {
          let before = total
          let current = placement
          let cut = PairCut(
            index, deliveries, seconds: seconds, between: first, and: second, placement: current, limit: before,
            mayMove: { current[$0] == first || current[$0] == second })
          states += cut.work
          if let found = cut.placement { adopt(found) }
          pending = total < before ? count * (count - 1) / 2 : pending - 1
        }
      }
    }
  }
}
