/// Decision trees in flat arrays.
///
/// The nodes of a tree are contiguous, and the two children of a node are adjacent. A step is therefore a load of a
/// node, a load of a number, a comparison and an addition, without a branch instruction. Leaves point to themselves.
/// Comparisons are in double precision, which is equivalent to float32 for float32 numbers and thresholds.
struct Forest: Hashable, Sendable {
  struct Node: Hashable, Sendable {
    /// For a branch, the number to compare with, or the index of the set to search. For a leaf, its weight if each leaf
    /// has one vote for the same target, else its index in `voteStarts`.
    var value: Double
    var form: UInt32
    /// For a branch, its first child, taken by numbers that pass; the other child follows it. For a leaf, the leaf
    /// itself.
    var next: UInt32

    /// The test of a branch is `number <= value`, unless one of the following flags is set.
    static let isBranch: UInt32 = 1 << 31
    static let missingPasses: UInt32 = 1 << 30
    static let isEquality: UInt32 = 1 << 29
    static let isMembership: UInt32 = 1 << 28
    static let feature: UInt32 = (1 << 28) - 1
  }

  private(set) var nodes: [Node] = []
  private(set) var roots: [UInt32] = []
  /// By tree, the number of steps to the deepest leaf.
  private(set) var depths: [Int] = []
  /// The number of features that nodes read.
  private(set) var featureCount = 0
  private var sets: [Set<Double>] = []
  /// The first vote of each leaf; the votes of a leaf end where those of the next one begin.
  private var voteStarts: [Int] = [0]
  private var votes: [TreeVote] = []
  /// Whether all tests are `number <= value`.
  private var isOrdered = true
  /// The target of all votes, if each leaf has one vote for it.
  private var onlyTarget: Int?

  /// Creates the arrays. A node with several parents is copied below each, while its children are stored once.
  init(_ source: [TreeNode], roots: [Int], votes: [TreeVote], targetCount: Int) throws(TreeFault) {
    var laid = [NodeLayoutState](repeating: .ahead, count: source.count)
    var pending: [Visit] = []
    for root in roots {
      guard source.indices.contains(root) else { throw .noSuchRoot(root) }
      self.roots.append(UInt32(nodes.count))
      pending.append(.enter(root, place: appendPlace()))
      while let visit = pending.popLast() {
        let (index, place) = visit.node
        switch (laid[index], source[index]) {
        case (.below, .branch(_, _, _, let ifTrue, let ifFalse)) where visit.isLeaving:
          laid[index] = .done(place, depth: max(laid[ifTrue].depth, laid[ifFalse].depth) + 1)
        case (.below, _): throw .aboveItself(index)
        case (.done(let other, _), let node):
          nodes[place] = nodes[other]
          if case .leaf = node { nodes[place].next = UInt32(place) }
        case (.ahead, .leaf(let range)):
          nodes[place] = Node(value: Double(voteStarts.count - 1), form: 0, next: UInt32(place))
          for vote in votes[range] {
            guard (0..<targetCount).contains(vote.target) else { throw .noSuchTarget(vote.target, at: index) }
            self.votes.append(vote)
          }
          voteStarts.append(self.votes.count)
          laid[index] = .done(place, depth: 0)
        case (.ahead, .branch(let feature, let test, let missingIsTrue, let ifTrue, let ifFalse)):
          guard (0...Int(Node.feature)).contains(feature) else { throw .noSuchFeature(feature, at: index) }
          for child in [ifTrue, ifFalse] where !source.indices.contains(child) {
            throw .noSuchChild(child, of: index)
          }
          featureCount = max(featureCount, feature + 1)
          let first = appendPlace()
          _ = appendPlace()
          let (value, form, isTurned) = passing(test)
          let missing = missingIsTrue != isTurned ? Node.missingPasses : 0
          nodes[place] = Node(
            value: value, form: Node.isBranch | form | missing | UInt32(feature), next: UInt32(first))
          laid[index] = .below
          pending.append(.leave(index, place: place))
          pending.append(.enter(isTurned ? ifTrue : ifFalse, place: first + 1))
          pending.append(.enter(isTurned ? ifFalse : ifTrue, place: first))
        }
      }
      depths.append(laid[root].depth)
    }
    shortenVotes()
  }

  /// The progress in the layout of a source node.
  private enum NodeLayoutState {
    case ahead
    /// The nodes below it are in progress.
    case below
    /// The node has a position and a number of steps to its deepest leaf.
    case done(Int, depth: Int)

    var depth: Int { if case .done(_, let depth) = self { depth } else { 0 } }
  }

  private enum Visit {
    case enter(Int, place: Int)
    /// All nodes below are done.
    case leave(Int, place: Int)

    var isLeaving: Bool { if case .leave = self { true } else { false } }
    var node: (index: Int, place: Int) {
      switch self {
      case .enter(let index, let place), .leave(let index, let place): (index, place)
      }
    }
  }

  private mutating func appendPlace() -> Int {
    nodes.append(Node(value: 0, form: 0, next: 0))
    return nodes.count - 1
  }

  /// Returns a test in the form of the nodes' tests; `isTurned` if the node's test is its negation.
  private mutating func passing(_ test: TreeTest) -> (value: Double, form: UInt32, isTurned: Bool) {
    switch test {
    case .atMost(let bound): return (bound, 0, false)
    case .above(let bound) where !bound.isNaN: return (bound, 0, true)
    case .below(let bound) where bound > -.infinity: return (bound.nextDown, 0, false)
    case .atLeast(let bound) where bound > -.infinity: return (bound.nextDown, 0, true)
    // No number is below negative infinity; every number is at least negative infinity.
    case .atLeast(let bound) where !bound.isNaN: return equality(.nan, isTurned: true)
    case .above, .below, .atLeast: return equality(.nan, isTurned: false)
    case .equal(let number): return equality(number, isTurned: false)
    case .unequal(let number): return equality(number, isTurned: true)
    case .member(let numbers):
      isOrdered = false
      sets.append(Set(numbers))
      return (Double(sets.count - 1), Node.isMembership, false)
    }
  }

  private mutating func equality(_ number: Double, isTurned: Bool) -> (Double, UInt32, Bool) {
    isOrdered = false
    return (number, Node.isEquality, isTurned)
  }

  /// Moves the votes into the leaves if each leaf has one vote for the same target.
  private mutating func shortenVotes() {
    guard let target = votes.first?.target, votes.count == voteStarts.count - 1,
      votes.indices.allSatisfy({ voteStarts[$0] == $0 && votes[$0].target == target })
    else { return }
    onlyTarget = target
    for index in nodes.indices where nodes[index].form == 0 {
      nodes[index].value = votes[Int(nodes[index].value)].weight
    }
    (votes, voteStarts) = ([], [])
  }

  typealias Combination = (_ value: inout Double, _ error: inout Double, _ weight: Double) -> Void

  /// The size of a block of numbers, which stays in a core's cache while all trees are evaluated.
  private static let blockCount = 1 << 17

  /// Adds the votes of every tree, in order, to the values of each row. With many rows, several of them descend the
  /// same tree at a time; a single row descends several trees.
  ///
  /// - Parameter combine: Combines the value of a target, and its error, with the weight of a vote.
  @inline(__always)
  func vote(
    _ rows: NumberRows, _ targetCount: Int, _ values: UnsafeMutableBufferPointer<Double>,
    _ errors: UnsafeMutableBufferPointer<Double>, _ isVoted: UnsafeMutableBufferPointer<Bool>, _ combine: Combination
  ) {
    let lanes = ForestTraversal.laneCount
    let block = max(Self.blockCount / max(rows.width, 1) / lanes, 1) * lanes
    var places = [UInt32](repeating: 0, count: lanes)
    var starts = [Int](repeating: 0, count: lanes)
    let tally = VoteTally(
      forest: self, targetCount: targetCount, values: values, errors: errors, isVoted: isVoted)
    nodes.withUnsafeBufferPointer { nodes in
      rows.numbers.withUnsafeBufferPointer { numbers in
        let walk = ForestTraversal(nodes: nodes, numbers: numbers, width: rows.width, sets: sets)
        var start = 0
        while start + lanes <= rows.count {
          let end = start + min(block, (rows.count - start) / lanes * lanes)
          for tree in roots.indices {
            for first in stride(from: start, to: end, by: lanes) {
              for lane in 0..<lanes { (places[lane], starts[lane]) = (roots[tree], (first + lane) * rows.width) }
              walk.descend(depths[tree], &places, starts, isOrdered: isOrdered)
              for lane in 0..<lanes { tally.add(first + lane, places[lane], combine) }
            }
          }
          start = end
        }
        for row in start..<rows.count {
          for lane in 0..<lanes { starts[lane] = row * rows.width }
          for first in stride(from: 0, to: roots.count, by: lanes) {
            let count = min(lanes, roots.count - first)
            for lane in 0..<lanes { places[lane] = roots[first + min(lane, count - 1)] }
            walk.descend(depths[first..<first + count].max() ?? 0, &places, starts, isOrdered: isOrdered)
            for lane in 0..<count { tally.add(row, places[lane], combine) }
          }
        }
      }
    }
  }

  /// Adds the votes of leaves to the values of rows.
  private struct VoteTally {
    let forest: Forest
    let targetCount: Int
    let values: UnsafeMutableBufferPointer<Double>
    let errors: UnsafeMutableBufferPointer<Double>
    let isVoted: UnsafeMutableBufferPointer<Bool>

    @inline(__always)
    func add(_ row: Int, _ place: UInt32, _ combine: Combination) {
      let value = forest.nodes[Int(place)].value
      if let target = forest.onlyTarget {
        add(row * targetCount + target, value, combine)
      } else {
        let leaf = Int(value)
        for index in forest.voteStarts[leaf]..<forest.voteStarts[leaf + 1] {
          add(row * targetCount + forest.votes[index].target, forest.votes[index].weight, combine)
        }
      }
    }

    @inline(__always)
    private func add(_ index: Int, _ weight: Double, _ combine: Combination) {
      combine(&values[index], &errors[index], weight)
      isVoted[index] = true
    }
  }
}
