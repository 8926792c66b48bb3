/// Trees as flat arrays.
///
/// The nodes of a tree lie together, and the two children of a node beside each other, so that a step is one load of a
/// node, one of a number, a comparison and an addition, without a jump. Leaves lead to themselves. Comparisons are in
/// double precision, which for float32 numbers and thresholds is what a comparison in float32 gives.
struct Forest: Hashable, Sendable {
  struct Node: Hashable, Sendable {
    /// A branch: what the number is compared with, or which of the sets it is looked for in. A leaf: its weight where
    /// all leaves have one vote for one target, else its place among `voteStarts`.
    var value: Double
    var form: UInt32
    /// A branch: its first child, for numbers that pass; the other one lies behind it. A leaf: itself.
    var next: UInt32

    /// The test of a branch is that the number is at most the value, unless it is one of these.
    static let isBranch: UInt32 = 1 << 31
    static let missingPasses: UInt32 = 1 << 30
    static let isEquality: UInt32 = 1 << 29
    static let isMembership: UInt32 = 1 << 28
    static let feature: UInt32 = (1 << 28) - 1
  }

  private(set) var nodes: [Node] = []
  private(set) var roots: [UInt32] = []
  /// How many steps lead to the deepest leaf, by tree.
  private(set) var depths: [Int] = []
  /// As many numbers as nodes look at.
  private(set) var featureCount = 0
  private var sets: [Set<Double>] = []
  /// Where the votes of a leaf begin; those of the next one begin where they end.
  private var voteStarts: [Int] = [0]
  private var votes: [TreeVote] = []
  /// Whether every test is that a number is at most another.
  private var isOrdered = true
  /// The target of every vote, where each leaf has one for it.
  private var onlyTarget: Int?

  /// A node that has several parents has a place below each, and its children theirs once.
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

  /// How far a node of the source is laid out.
  private enum NodeLayoutState {
    case ahead
    /// What lies under it is being laid out.
    case below
    /// Where, and how many steps lead from it to its deepest leaf.
    case done(Int, depth: Int)

    var depth: Int { if case .done(_, let depth) = self { depth } else { 0 } }
  }

  private enum Visit {
    case enter(Int, place: Int)
    /// All under it has been laid out.
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

  /// A test as one of those that nodes have; turned where it is passed by what does not pass the other.
  private mutating func passing(_ test: TreeTest) -> (value: Double, form: UInt32, isTurned: Bool) {
    switch test {
    case .atMost(let bound): return (bound, 0, false)
    case .above(let bound) where !bound.isNaN: return (bound, 0, true)
    case .below(let bound) where bound > -.infinity: return (bound.nextDown, 0, false)
    case .atLeast(let bound) where bound > -.infinity: return (bound.nextDown, 0, true)
    // Nothing is below the least of all; everything is at least that.
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

  /// Puts the votes into the leaves where each has one, for the same target.
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

  /// The numbers of so many rows stay in a core's cache while the trees pass by.
  private static let blockCount = 1 << 17

  /// Adds the votes of every tree, in order, to what each row has. Of many rows, several take the same tree at a time;
  /// a single row takes several trees.
  ///
  /// - Parameter combine: of what a target has and a vote's weight.
  @inline(__always)
  func vote(
    _ rows: NumberRows, _ targetCount: Int, _ values: UnsafeMutableBufferPointer<Double>,
    _ isVoted: UnsafeMutableBufferPointer<Bool>, _ combine: (Double, Double) -> Double
  ) {
    let lanes = ForestTraversal.laneCount
    let block = max(Self.blockCount / max(rows.width, 1) / lanes, 1) * lanes
    var places = [UInt32](repeating: 0, count: lanes)
    var starts = [Int](repeating: 0, count: lanes)
    let tally = VoteTally(forest: self, targetCount: targetCount, values: values, isVoted: isVoted)
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

  /// Adds the votes of leaves to what rows have.
  private struct VoteTally {
    let forest: Forest
    let targetCount: Int
    let values: UnsafeMutableBufferPointer<Double>
    let isVoted: UnsafeMutableBufferPointer<Bool>

    @inline(__always)
    func add(_ row: Int, _ place: UInt32, _ combine: (Double, Double) -> Double) {
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
    private func add(_ index: Int, _ weight: Double, _ combine: (Double, Double) -> Double) {
      values[index] = combine(values[index], weight)
      isVoted[index] = true
    }
  }
}
