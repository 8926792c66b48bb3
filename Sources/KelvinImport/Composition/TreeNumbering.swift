import KelvinGraph
package import KelvinHostOperations

/// Nodes that formats number within their trees, as places in one list.
package struct TreeNumbering {
  private struct Key: Hashable {
    var tree: Int
    var node: Int
  }

  private let keys: [Key]
  private var places: [Key: Int] = [:]
  private let refusal: (String) -> FormatError

  /// - Parameters:
  ///   - trees: the tree of each node.
  ///   - nodes: its number in the tree.
  ///   - refusal: makes an error of what is wrong with the trees.
  package init(trees: [Int], nodes: [Int], refusal: @escaping (String) -> FormatError) throws(FormatError) {
    keys = zip(trees, nodes).map(Key.init)
    self.refusal = refusal
    places.reserveCapacity(keys.count)
    for (place, key) in keys.enumerated() {
      guard places.updateValue(place, forKey: key) == nil else { throw refusal("\(name(place)) is there twice") }
    }
  }

  /// The place of a node by its number, in a tree.
  package func place(_ node: Int, tree: Int) throws(FormatError) -> Int {
    guard let place = places[Key(tree: tree, node: node)] else { throw refusal("tree \(tree) has no node \(node)") }
    return place
  }

  /// The place of a child of a node.
  package func child(_ node: Int, of parent: Int) throws(FormatError) -> Int {
    guard let place = places[Key(tree: keys[parent].tree, node: node)] else {
      throw refusal("\(name(parent)) has node \(node) as a child, which is not there")
    }
    return place
  }

  /// Trees of nodes, in the order of their first nodes. The root of a tree is the node that is no other's child.
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
        throw refusal("\(name(other)) and \(name(place)) are no other's children: it has two roots")
      }
    }
    var list: [Int] = []
    for tree in order {
      guard let root = roots[tree] else { throw refusal("tree \(tree) has no root: every node is another's child") }
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
  /// Whether trees may have so many targets: results have a number for each, so many are believed where votes name as
  /// many.
  package static func isCredible(_ targets: Int, votes: Int) -> Bool { (1...max(votes, 1 << 12)).contains(targets) }
}

extension TreeFault {
  /// - Parameter name: of the node at a place.
  package func described(_ name: (Int) -> String) -> String {
    switch self {
    case .noSuchChild(let child, let parent): "\(name(parent)) has \(child) as a child, which is not there"
    case .noSuchRoot(let root): "\(root) is a root, which is not there"
    case .aboveItself(let place): "\(name(place)) is reached from itself: the nodes make no tree"
    case .noSuchFeature(let feature, let place): "\(name(place)) looks at the feature \(feature)"
    case .noSuchTarget(let target, let place): "\(name(place)) votes for \(target), which is none of the results"
    }
  }
}
