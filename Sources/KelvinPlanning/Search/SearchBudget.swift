/// The number of states that a step may keep, so that a whole search stays within a number of elementary moves.
struct SearchBudget {
  private let index: ProblemIndex
  private let words: Int
  private var remaining: Int
  /// The moves that one state at every remaining step would take.
  private var single: Int
  private static let widest = 16_384

  init(_ budget: Int, _ index: ProblemIndex, words: Int) {
    self.index = index
    self.words = words
    remaining = budget
    single = Self.least(index, words: words)
  }

  /// Returns the moves of the narrowest possible search.
  static func least(_ index: ProblemIndex, words: Int) -> Int {
    (index.nodeCount * (4 + words) + index.inputs.count + index.outputs.count) * index.deviceCount
  }

  private func moves(_ node: Int) -> Int {
    (4 + words + index.inputs(of: node).count + index.outputs(of: node).count) * index.deviceCount
  }

  /// Four times an equal share of the remaining moves.
  var width: Int { min(max(4 * remaining / max(1, single), 1), Self.widest) }

  mutating func spend(node: Int, states: Int, comparisons: Int) {
    let each = moves(node)
    remaining = max(0, remaining - states * each - comparisons)
    single = max(1, single - each)
  }
}
