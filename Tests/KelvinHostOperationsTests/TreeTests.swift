import KelvinBasics
import KelvinHostOperations
import Testing

/// Trees as flat arrays, against a traversal from node to node.
@Suite struct TreeTests {
  private struct Planted {
    var nodes: [TreeNode] = []
    var votes: [TreeVote] = []
    var roots: [Int] = []

    /// Adds a tree whose branches ask anything. Weights are short fractions, so that their sums are exact.
    mutating func grow(_ depth: Int, targets: Int, _ random: inout SeededGenerator) -> Int {
      let place = nodes.count
      nodes.append(.leaf(votes: 0..<0))
      guard depth > 0, Int.random(in: 0..<8, using: &random) > 0 else {
        let start = votes.count
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          votes.append(
            TreeVote(
              .random(in: 0..<targets, using: &random), Double(Int.random(in: -2048...2048, using: &random)) / 1024))
        }
        nodes[place] = .leaf(votes: start..<votes.count)
        return place
      }
      let number = TreeTests.numbers.randomElement(using: &random) ?? 0
      let tests: [TreeTest] = [
        .atMost(number), .below(number), .atLeast(number), .above(number), .equal(number), .unequal(number),
        .member(of: [number, 0.5, -1]),
      ]
      let ifFalse = grow(depth - 1, targets: targets, &random)
      let ifTrue = grow(depth - 1, targets: targets, &random)
      nodes[place] = .branch(
        feature: .random(in: 0..<5, using: &random), test: tests.randomElement(using: &random) ?? tests[0],
        missingIsTrue: .random(using: &random), ifTrue: ifTrue, ifFalse: ifFalse)
      return place
    }

    func leaf(_ root: Int, _ row: ArraySlice<Double>) -> Range<Int> {
      var place = root
      while true {
        switch nodes[place] {
        case .leaf(let votes): return votes
        case .branch(let feature, let test, let missingIsTrue, let ifTrue, let ifFalse):
          let x = row[row.startIndex + feature]
          let passes =
            switch test {
            case _ where x.isNaN: missingIsTrue
            case .atMost(let number): x <= number
            case .below(let number): x < number
            case .atLeast(let number): x >= number
            case .above(let number): x > number
            case .equal(let number): x == number
            case .unequal(let number): x != number
            case .member(let numbers): numbers.contains(x)
            }
          place = passes ? ifTrue : ifFalse
        }
      }
    }
  }

  fileprivate static let numbers = [
    -Double.infinity, -1, -0.0, 0, 1.0 / 3, 0.5, 1, .leastNonzeroMagnitude, .infinity, .nan,
  ]

  @Test(arguments: UInt64(0)..<40) func forestMatchesNodeByNodeTraversal(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let targets = Int.random(in: 1...3, using: &random)
    var planted = Planted()
    for _ in 0..<Int.random(in: 1...20, using: &random) {
      planted.roots.append(planted.grow(.random(in: 0...7, using: &random), targets: targets, &random))
    }
    let ensemble = try TreeEnsemble(
      planted.nodes, roots: planted.roots, votes: planted.votes, targetCount: targets)
    for count in [1, 7, 8, 30] {
      let rows = NumberRows(
        (0..<count * 5).map { _ in Self.numbers.randomElement(using: &random) ?? 0 }, count: count, width: 5)
      var expected = [Double](repeating: 0, count: count * targets)
      for row in 0..<count {
        for root in planted.roots {
          for vote in planted.votes[planted.leaf(root, rows[row])] {
            expected[row * targets + vote.target] += vote.weight
          }
        }
      }
      #expect(ensemble.evaluate(rows).values == expected, "seed \(seed), \(count) rows")
    }
  }

  @Test(arguments: 2...300) func equalSharesNeverExceedTheirSum(count: Int) throws {
    func sum(of voters: Int, _ share: Double) throws -> Double {
      let leaves = (0..<count).map { TreeNode.leaf(votes: $0..<$0 + 1) }
      let votes = (0..<count).map { TreeVote(0, $0 < voters ? share : 0) }
      let ensemble = try TreeEnsemble(leaves, roots: Array(0..<count), votes: votes, targetCount: 1)
      return ensemble.evaluate(NumberRows([0], count: 1, width: 1)).values[0]
    }
    let single = Double(1 / Float(count))
    #expect((1 - 0x1p-53...1).contains(try sum(of: count, 1 / Double(count))))
    #expect((1 - 0x1p-24...1).contains(try Float(sum(of: count, single))))
    if count.isMultiple(of: 2) {
      #expect((0.5 - 0x1p-54...0.5).contains(try sum(of: count / 2, 1 / Double(count))))
      #expect((0.5 - 0x1p-25...0.5).contains(try Float(sum(of: count / 2, single))))
    }
  }

  @Test func infiniteVotesStayInfinite() throws {
    func sum(_ votes: Double...) throws -> Double {
      let leaves = votes.indices.map { TreeNode.leaf(votes: $0..<$0 + 1) }
      let ensemble = try TreeEnsemble(
        leaves, roots: Array(votes.indices), votes: votes.map { TreeVote(0, $0) }, targetCount: 1)
      return ensemble.evaluate(NumberRows([0], count: 1, width: 1)).values[0]
    }
    #expect(try sum(1, .infinity, 2) == .infinity)
    #expect(try sum(.greatestFiniteMagnitude, .greatestFiniteMagnitude) == .infinity)
    #expect(try sum(.infinity, -.infinity).isNaN)
  }

  @Test func probitOfCertaintyIsInfinite() {
    #expect(ScoreTransform.probit([0, 0.5, 1]) == [-.infinity, 0, .infinity])
  }

  @Test func aggregatesCoverOnlyTargetsWithVotes() throws {
    func values(_ aggregate: TreeEnsemble.Aggregate) throws -> [Double] {
      let votes = [TreeVote(0, 3), TreeVote(0, -1), TreeVote(2, 4)]
      let ensemble = try TreeEnsemble(
        [.leaf(votes: 0..<1), .leaf(votes: 1..<2), .leaf(votes: 2..<3), .leaf(votes: 3..<3)], roots: [0, 1, 2, 3],
        votes: votes, targetCount: 3, aggregate: aggregate, base: [10, 20, 30])
      return ensemble.evaluate(NumberRows([0], count: 1, width: 1)).values
    }
    #expect(try values(.sum) == [12, 20, 34])
    #expect(try values(.average) == [10.5, 20, 31])
    #expect(try values(.least) == [9, 20, 34])
    #expect(try values(.largest) == [13, 20, 34])
  }

  @Test func sharedNodesAreReachedFromEachBranch() throws {
    // Whether the first number is one of 1, 2 and 3, by a question for each; the second number decides behind them.
    func branch(_ feature: Int, _ test: TreeTest, _ ifTrue: Int, _ ifFalse: Int) -> TreeNode {
      .branch(feature: feature, test: test, missingIsTrue: false, ifTrue: ifTrue, ifFalse: ifFalse)
    }
    let nodes = [
      branch(0, .equal(1), 3, 1), branch(0, .equal(2), 3, 2), branch(0, .equal(3), 3, 5), branch(1, .atMost(0), 4, 5),
      TreeNode.leaf(votes: 0..<1), TreeNode.leaf(votes: 1..<2),
    ]
    let forest = try TreeEnsemble(nodes, roots: [0, 3], votes: [TreeVote(0, 1), TreeVote(0, 10)], targetCount: 1)
    let rows = [1.0, -1, 2, -1, 3, -1, 4, -1, 1, 1, 2, 1, 3, 1, 4, 1]
    #expect(forest.evaluate(NumberRows(rows, count: 8, width: 2)).values == [2, 2, 2, 11, 20, 20, 20, 20])
  }

  @Test func sharedSubtreesTakeLinearTime() throws {
    let depth = 64
    var nodes: [TreeNode] = (0..<depth).map {
      .branch(feature: 0, test: .atMost(Double($0)), missingIsTrue: false, ifTrue: $0 + 1, ifFalse: $0 + 1)
    }
    nodes.append(.leaf(votes: 0..<1))
    let forest = try TreeEnsemble(nodes, roots: [0], votes: [TreeVote(0, 7)], targetCount: 1)
    #expect(forest.evaluate(NumberRows([3], count: 1, width: 1)).values == [7])
  }

  @Test func invalidTreesAreRefused() {
    func fault(_ nodes: [TreeNode], roots: [Int] = [0], votes: [TreeVote] = []) -> TreeFault? {
      do throws(TreeFault) {
        _ = try TreeEnsemble(nodes, roots: roots, votes: votes, targetCount: 1)
        return nil
      } catch { return error }
    }
    func branch(_ ifTrue: Int, _ ifFalse: Int, feature: Int = 0) -> TreeNode {
      .branch(feature: feature, test: .atMost(0), missingIsTrue: false, ifTrue: ifTrue, ifFalse: ifFalse)
    }
    let leaf = TreeNode.leaf(votes: 0..<0)
    #expect(fault([branch(1, 2), leaf, leaf]) == nil)
    #expect(fault([branch(1, 0), leaf]) == .aboveItself(0))
    #expect(fault([branch(1, 2), branch(2, 0), leaf]) == .aboveItself(0))
    #expect(fault([branch(1, 3), leaf]) == .noSuchChild(3, of: 0))
    #expect(fault([branch(-1, 1), leaf]) == .noSuchChild(-1, of: 0))
    #expect(fault([leaf], roots: [1]) == .noSuchRoot(1))
    #expect(fault([branch(1, 2, feature: 1 << 40), leaf, leaf]) == .noSuchFeature(1 << 40, at: 0))
    #expect(fault([branch(1, 2, feature: -1), leaf, leaf]) == .noSuchFeature(-1, at: 0))
    #expect(fault([.leaf(votes: 0..<1)], votes: [TreeVote(1, 0)]) == .noSuchTarget(1, at: 0))
  }
}
