import KelvinGraph
package import KelvinHostOperations

/// The indices, in one list, of nodes that formats number within their trees.
package struct TreeNumbering {
  private struct Key: Hashable {
    var tree: Int
    var node: Int
  }

  private let keys: [Key]
  private var places: [Key: Int] = [:]
  private let refusal: (String) -> FormatError

  /// Creates the indices.
  ///
  /// - Parameters:
  ///   - trees: The tree of each node.
  ///   - nodes: The number of each node within its tree.
  ///   - refusal: Creates an error about invalid trees.
  package init(trees: [Int], nodes: [Int], refusal: @escaping (String) -> FormatError) throws(FormatError) {
    keys = zip(trees, nodes).map(Key.init)
    self.refusal = refusal
    places.reserveCapacity(keys.count)
    for (place, key) in keys.enumerated() {
      guard places.updateValue(place, forKey: key) == nil else { throw refusal("\(name(place)) is defined twice") }
    }
  }

  /// Returns the index of a node, given its number within a tree.
  package func place(_ node: Int, tree: Int) throws(FormatError) -> Int {
    guard let place = places[Key(tree: tree, node: node)] else { throw refusal("tree \(tree) has no node \(node)") }
    return place
  }

  /// Returns the index of a child of a node.
  package func child(_ node: Int, of parent: Int) throws(FormatError) -> Int {
    guard let place = places[Key(tree: keys[parent].tree, node: node)] else {
      throw refusal("\(name(parent)) has node \(node) as a child, which does not exist")
    }
    return place
  }

  /// Returns the trees, in the order of their first nodes. The root of a tree is the node that is not a child of
  /// another node.
  package func ensemble(
    _ nodes: [TreeNode], votes: [TreeVote], targetCount: Int, aggregate: TreeEnsemble.Aggregate = .sum, base: [Double]
  ) throws(FormatError) -> TreeEnsemble {
    var isChild = [Bool](repeating: false, count: nodes.count)
    for case .branch(_, _, _, let ifTrue, let ifFalse) in nodes {
      isChild[ifTrue] = true
      isChild[ifFalse] = true
    }
    var roots: [Int: Int] = [:]
    var order: [Int] = []
    var seen: Set<Int> = []
    for (place, key) in keys.enumerated() {
      if seen.insert(key.tree).inserted { order.append(key.tree) }
      guard !isChild[place] else { continue }
      if let other = roots.updateValue(place, forKey: key.tree) {
        throw refusal("\(name(other)) and \(name(place)) are not children of another node: it has two roots")
      }
    }
    var list: [Int] = []
    for tree in order {
      guard let root = roots[tree] else { throw refusal("tree \(tree) has no root: every node is a child") }
      list.append(root)
    }
    do {
      return try TreeEnsemble(
        nodes, roots: list, votes: votes, targetCount: targetCount, aggregate: aggregate, base: base)
    } catch { throw refusal(error.described(name)) }
  }

  private func name(_ place: Int) -> String { "node \(keys[place].node) of tree \(keys[place].tree)" }
}

extension TreeEnsemble {
  /// Whether a number of targets is plausible. Results have a number for each target, so a large number is accepted
  /// only if as many votes exist.
  package static func isCredible(_ targets: Int, votes: Int) -> Bool { (1...max(votes, 1 << 12)).contains(targets) }
}

extension TreeFault {
  /// Returns a description of the fault.
  ///
  /// - Parameter name: Returns the name of the node at an index.
  package func described(_ name: (Int) -> String) -> String {
    switch self {
    case .noSuchChild(let child, let parent): "\(name(parent)) has \(child) as a child, which does not exist"
    case .noSuchRoot(let root): "\(root) is a root, which does not exist"
    case .aboveItself(let place): "\(name(place)) is reached from itself: the nodes do not form a tree"
    case .noSuchFeature(let feature, let place): "\(name(place)) tests the feature \(feature)"
    case .noSuchTarget(let target, let place): "\(name(place)) votes for \(target), which is not one of the results"
    }
  }
}
