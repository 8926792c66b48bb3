/// How many states a step may keep, so that a whole search stays within a number of elementary moves.
struct SearchBudget {
  private let index: ProblemIndex
  private let words: Int
  private var remaining: Int
  /// Moves that keeping one state at every remaining step would take.
  private var single: Int
  private static let widest = 16_384

  init(_ budget: Int, _ index: ProblemIndex, words: Int) {
    self.index = index
    self.words = words
    remaining = budget
    single = Self.least(index, words: words)
  }

  /// Moves of the narrowest possible search.
  static func least(_ index: ProblemIndex, words: Int) -> Int {
    (index.nodeCount * (4 + words) + index.inputs.count + index.outputs.count) * index.deviceCount
  }

  private func moves(_ node: Int) -> Int {
    (4 + words + index.inputs(of: node).count + index.outputs(of: node).count) * index.deviceCount
  }

  /// Four times an even share of what remains.
  var width: Int { min(max(4 * remaining / max(1, single), 1), Self.widest) }

  mutating func spend(node: Int, states: Int, comparisons: Int) {
    let each = moves(node)
    remaining = max(0, remaining - states * each - comparisons)
    single = max(1, single - each)
  }
}
