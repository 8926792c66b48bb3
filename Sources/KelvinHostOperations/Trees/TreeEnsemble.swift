/// Decision trees whose leaves vote for targets.
package struct TreeEnsemble: Hashable, Sendable {
  package enum Aggregate: Hashable, Sendable { case sum, average, least, largest }

  package let targetCount: Int
  package let aggregate: Aggregate
  /// The numbers added to the aggregates, one for each target.
  package let base: [Double]
  let forest: Forest

  package var treeCount: Int { forest.roots.count }
  /// Whether a branch treats not-a-number like numbers that pass its test.
  package var hasWaysForMissing: Bool { forest.nodes.contains { $0.form & Forest.Node.missingPasses != 0 } }
  /// The allowed widths of a row, which must have all features that nodes read.
  package var widths: ClosedRange<Int> { max(forest.featureCount, 1)...Int.max }

  /// Creates an ensemble.
  ///
  /// - Parameters:
  ///   - nodes: The nodes of all trees; those that are not reachable from a root are ignored. A node may be the child
  ///     of several nodes, because some converters write a set of categories as one test for each.
  ///   - roots: The indices of the roots among the nodes.
  ///   - votes: The votes of all leaves, which refer to ranges of it.
  ///   - base: One number for each target, or an empty list.
  /// - Precondition: There is a target, and the ranges of leaves are within the votes.
  /// - Throws: `TreeFault` if the nodes do not form trees.
  package init(
    _ nodes: [TreeNode], roots: [Int], votes: [TreeVote], targetCount: Int, aggregate: Aggregate = .sum,
    base: [Double] = []
  ) throws(TreeFault) {
    precondition(targetCount > 0 && (base.isEmpty || base.count == targetCount))
    self.targetCount = targetCount
    self.aggregate = aggregate
    self.base = base.isEmpty ? [Double](repeating: 0, count: targetCount) : base
    forest = try Forest(nodes, roots: roots, votes: votes, targetCount: targetCount)
  }

  /// Returns the aggregate of every target for each row, and whether any leaf voted for it. The value of a target
  /// without votes is its base.
  ///
  /// Sums carry the rounding errors of their additions. Equal numbers of equal votes therefore tie, and the votes of all
  /// trees add up to 1, whatever the number of trees is.
  package func evaluate(_ rows: NumberRows) -> (values: [Double], isVoted: [Bool]) {
    let start = aggregate == .least ? Double.infinity : aggregate == .largest ? -Double.infinity : 0
    var values = [Double](repeating: start, count: rows.count * targetCount)
    var errors = [Double](repeating: 0, count: values.count)
    var isVoted = [Bool](repeating: false, count: values.count)
    values.withUnsafeMutableBufferPointer { values in
      errors.withUnsafeMutableBufferPointer { errors in
        isVoted.withUnsafeMutableBufferPointer { isVoted in
          switch aggregate {
          case .sum, .average: forest.vote(rows, targetCount, values, errors, isVoted, Self.add)
          case .least:
            forest.vote(rows, targetCount, values, errors, isVoted) { value, _, vote in value = min(value, vote) }
          case .largest:
            forest.vote(rows, targetCount, values, errors, isVoted) { value, _, vote in value = max(value, vote) }
          }
        }
      }
    }
    let divisor = aggregate == .average ? Double(max(treeCount, 1)) : 1
    for index in values.indices {
      // Infinite sums have no error.
      let value = errors[index].isFinite ? values[index] + errors[index] : values[index]
      values[index] = (isVoted[index] ? value / divisor : 0) + base[index % targetCount]
    }
    return (values, isVoted)
  }

  /// Adds a vote to a sum, and the rounding error of that addition to the sum's error (Knuth's two-sum).
  @inline(__always)
  private static func add(_ sum: inout Double, _ error: inout Double, _ vote: Double) {
    let next = sum + vote
    let added = next - sum
    error += (sum - (next - added)) + (vote - added)
    sum = next
  }
}

/// A node of a tree as formats describe it.
package enum TreeNode: Hashable, Sendable {
  /// A branch; `missingIsTrue` selects the child for not-a-number.
  case branch(feature: Int, test: TreeTest, missingIsTrue: Bool, ifTrue: Int, ifFalse: Int)
  case leaf(votes: Range<Int>)
}

/// The test of a branch.
package enum TreeTest: Hashable, Sendable {
  case atMost(Double)
  case below(Double)
  case atLeast(Double)
  case above(Double)
  case equal(Double)
  case unequal(Double)
  case member(of: [Double])
}

/// The vote of a leaf for a target.
package struct TreeVote: Hashable, Sendable {
  package var target: Int
  package var weight: Double

  package init(_ target: Int, _ weight: Double) {
    self.target = target
    self.weight = weight
  }
}

/// A reason why nodes do not form trees, with the indices of nodes.
package enum TreeFault: Error, Hashable, Sendable {
  case noSuchChild(Int, of: Int)
  case noSuchRoot(Int)
  case aboveItself(Int)
  case noSuchFeature(Int, at: Int)
  case noSuchTarget(Int, at: Int)
}
