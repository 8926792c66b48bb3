import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  static let treeEnsembleClassifier = ONNXHostMapper("ai.onnx.ml.TreeEnsembleClassifier") {
    (node) throws(FormatError) in
    let labels = try node.classLabels(integers: "classlabels_int64s")
    let forest = try ONNXForest(node, leaves: "class")
    let base = try node.numbers("base_values")
    let isSigned = forest.votes.contains { $0.weight < 0 }
    let targets = Set(forest.votes.map(\.target))
    let rule: TreeClassifier.Rule =
      labels.count != 2 || targets.count > 1
      ? .each : targets == [1] ? .second(isSigned: isSigned) : .one(isSigned: isSigned)
    guard base.isEmpty || base.count == labels.count || base.count == 1 && labels.count == 2 else {
      throw node.malformed("\(base.count) base values for \(labels.count) classes")
    }
    let count: Int
    var added = base
    if case .one = rule {
      count = 1
      added = base.suffix(1)
    } else {
      count = labels.count
      if base.count == 1 { added = [base[0], 0] }
    }
    let classifier = TreeClassifier(
      try forest.ensemble(targetCount: count, base: added), rule, try node.transform(), hasBase: !base.isEmpty,
      isDouble: node.node.attributes["class_weights_as_tensor"] != nil)
    return [try node.classifierOutput(classifier, labels)]
  }

  static let treeEnsembleRegressor = ONNXHostMapper("ai.onnx.ml.TreeEnsembleRegressor") {
    (node) throws(FormatError) in
    let count = node.integer("n_targets", default: 1)
    // ONNX Runtime does the same, and the leaves that skl2onnx writes rely on it.
    let forest = try ONNXForest(node, leaves: "target", takesFirstVotes: count == 1)
    let base = try node.numbers("base_values")
    guard TreeEnsemble.isCredible(count, votes: forest.votes.count), base.isEmpty || base.count == count else {
      throw node.malformed("\(count) targets, \(base.count) base values")
    }
    let aggregate: TreeEnsemble.Aggregate
    switch node.text("aggregate_function", default: "SUM") {
    case "SUM": aggregate = .sum
    case "AVERAGE": aggregate = .average
    case "MIN": aggregate = .least
    case "MAX": aggregate = .largest
    case let other: throw node.unsupported("its aggregate function is '\(other)'")
    }
    let scores = TreeScores(
      try forest.ensemble(targetCount: count, aggregate: aggregate, base: base), try node.transform())
    return [try node.rowsOutput(scores, .float32)]
  }

  /// The successor of the two operators above: its nodes are branches only, and each leaf has one vote.
  static let treeEnsemble = ONNXHostMapper("ai.onnx.ml.TreeEnsemble") { (node) throws(FormatError) in
    let count = node.integer("n_targets", default: 1)
    let aggregate: TreeEnsemble.Aggregate
    switch node.integer("aggregate_function", default: 1) {
    case 0: aggregate = .average
    case 1: aggregate = .sum
    case 2: aggregate = .least
    case 3: aggregate = .largest
    case let other: throw node.unsupported("its aggregate function is \(other)")
    }
    let transform: ScoreTransform
    switch node.integer("post_transform", default: 0) {
    case 0: transform = .none
    case 1: transform = .softmax
    case 2: transform = .logistic
    case 3: transform = .softmaxOfOthers
    case 4: transform = .probit
    case let other: throw node.unsupported("its transform is \(other)")
    }
    let (nodes, votes) = try node.branches()
    guard TreeEnsemble.isCredible(count, votes: votes.count) else { throw node.malformed("\(count) targets") }
    let ensemble: TreeEnsemble
    do throws(TreeFault) {
      ensemble = try TreeEnsemble(
        nodes, roots: node.integers("tree_roots").map(Int.init), votes: votes, targetCount: count, aggregate: aggregate)
    } catch { throw node.malformed(error.described { "node \($0)" }) }
    return [try node.rowsOutput(TreeScores(ensemble, transform), nil)]
  }
}

/// The trees of operators that number nodes within trees.
private struct ONNXForest {
  let votes: [TreeVote]
  private let nodes: [TreeNode]
  private let numbering: TreeNumbering

  /// Reads the trees of a node.
  ///
  /// - Parameters:
  ///   - leaves: The prefix of the names of the vote attributes.
  ///   - takesFirstVotes: Whether only the first vote of a leaf counts.
  init(_ node: ONNXHostNode, leaves: String, takesFirstVotes: Bool = false) throws(FormatError) {
    let (trees, numbers) = (node.integers("nodes_treeids").map(Int.init), node.integers("nodes_nodeids").map(Int.init))
    let modes = node.strings("nodes_modes")
    let values = try node.numbers("nodes_values")
    let features = node.integers("nodes_featureids")
    let (ifTrue, ifFalse) = (node.integers("nodes_truenodeids"), node.integers("nodes_falsenodeids"))
    let missing = node.integers("nodes_missing_value_tracks_true")
    let count = trees.count
    try node.check(
      count,
      [
        ("nodes_nodeids", numbers.count), ("nodes_modes", modes.count), ("nodes_values", values.count),
        ("nodes_featureids", features.count), ("nodes_truenodeids", ifTrue.count),
        ("nodes_falsenodeids", ifFalse.count),
      ], as: "nodes_treeids")
    guard count > 0 else { throw node.malformed("it has no nodes") }
    guard missing.isEmpty || missing.count == count else {
      throw node.malformed("nodes_missing_value_tracks_true has \(missing.count) elements for \(count) nodes")
    }
    numbering = try TreeNumbering(trees: trees, nodes: numbers) { node.malformed($0) }
    let groups = try Self.groups(node, leaves, numbering, modes)
    votes = groups.votes
    var nodes: [TreeNode] = []
    nodes.reserveCapacity(count)
    for place in 0..<count {
      let test: TreeTest
      // Not-a-number is unequal to every number.
      var missingIsTrue = !missing.isEmpty && missing[place] != 0
      switch modes[place] {
      case "LEAF":
        let votes = groups.starts[place]..<groups.starts[place + 1]
        nodes.append(.leaf(votes: takesFirstVotes ? votes.prefix(1) : votes))
        continue
      case "BRANCH_LEQ": test = .atMost(values[place])
      case "BRANCH_LT": test = .below(values[place])
      case "BRANCH_GTE": test = .atLeast(values[place])
      case "BRANCH_GT": test = .above(values[place])
      case "BRANCH_EQ": test = .equal(values[place])
      case "BRANCH_NEQ":
        test = .unequal(values[place])
        missingIsTrue = true
      case let other: throw node.unsupported("the mode of a node is '\(other)'")
      }
      nodes.append(
        .branch(
          feature: Int(features[place]), test: test, missingIsTrue: missingIsTrue,
          ifTrue: try numbering.child(Int(ifTrue[place]), of: place),
          ifFalse: try numbering.child(Int(ifFalse[place]), of: place)))
    }
    self.nodes = nodes
  }

  func ensemble(
    targetCount: Int, aggregate: TreeEnsemble.Aggregate = .sum, base: [Double]
  ) throws(FormatError) -> TreeEnsemble {
    try numbering.ensemble(nodes, votes: votes, targetCount: targetCount, aggregate: aggregate, base: base)
  }

  /// Returns the votes by the indices of their leaves. Votes of branches are ignored, because rows only end at leaves.
  private static func groups(
    _ node: ONNXHostNode, _ leaves: String, _ numbering: TreeNumbering, _ modes: [String]
  ) throws(FormatError) -> (votes: [TreeVote], starts: [Int]) {
    let (trees, numbers) = (node.integers("\(leaves)_treeids"), node.integers("\(leaves)_nodeids"))
    let (targets, weights) = (node.integers("\(leaves)_ids"), try node.numbers("\(leaves)_weights"))
    try node.check(
      trees.count,
      [
        ("\(leaves)_nodeids", numbers.count), ("\(leaves)_ids", targets.count), ("\(leaves)_weights", weights.count),
      ], as: "\(leaves)_treeids")
    var places: [Int] = []
    places.reserveCapacity(trees.count)
    var starts = [Int](repeating: 0, count: modes.count + 1)
    for (tree, number) in zip(trees, numbers) {
      let place = try numbering.place(Int(number), tree: Int(tree))
      places.append(place)
      if modes[place] == "LEAF" { starts[place + 1] += 1 }
    }
    for place in modes.indices { starts[place + 1] += starts[place] }
    var votes = [TreeVote](repeating: TreeVote(0, 0), count: starts[modes.count])
    var next = starts
    for (index, place) in places.enumerated() where modes[place] == "LEAF" {
      votes[next[place]] = TreeVote(Int(targets[index]), weights[index])
      next[place] += 1
    }
    return (votes, starts)
  }
}

extension ONNXHostNode {
  /// Checks the lengths of attribute lists.
  ///
  /// - Throws: `FormatError` if the length of a list differs from the given one.
  fileprivate func check(_ count: Int, _ lists: [(name: String, count: Int)], as other: String) throws(FormatError) {
    if let list = lists.first(where: { $0.count != count }) {
      throw malformed("\(list.name) has \(list.count) elements, \(other) has \(count)")
    }
  }

  /// Returns the nodes and leaves of a `TreeEnsemble`: branches at their indices, followed by a leaf for each child
  /// that is a leaf.
  fileprivate func branches() throws(FormatError) -> (nodes: [TreeNode], votes: [TreeVote]) {
    let features = integers("nodes_featureids")
    let (ifTrue, ifFalse) = (integers("nodes_truenodeids"), integers("nodes_falsenodeids"))
    let (trueIsLeaf, falseIsLeaf) = (integers("nodes_trueleafs"), integers("nodes_falseleafs"))
    let modes = try tensor("nodes_modes").integers
    let splits = try tensor("nodes_splits").doubles
    let missing = integers("nodes_missing_value_tracks_true")
    let count = features.count
    try check(
      count,
      [
        ("nodes_truenodeids", ifTrue.count), ("nodes_falsenodeids", ifFalse.count),
        ("nodes_trueleafs", trueIsLeaf.count), ("nodes_falseleafs", falseIsLeaf.count), ("nodes_modes", modes.count),
        ("nodes_splits", splits.count),
      ], as: "nodes_featureids")
    guard missing.isEmpty || missing.count == count else {
      throw malformed("nodes_missing_value_tracks_true has \(missing.count) elements for \(count) nodes")
    }
    let weights = try tensor("leaf_weights").doubles
    let targets = integers("leaf_targetids")
    try check(weights.count, [("leaf_targetids", targets.count)], as: "leaf_weights")
    let votes = zip(targets, weights).map { TreeVote(Int($0), $1) }
    var members = try node.attributes["membership_values"]?.tensor?.read(files).doubles[...] ?? []
    var leaves: [TreeNode] = []
    func child(_ number: Int64, isLeaf: Bool, of place: Int) throws(FormatError) -> Int {
      let limit = isLeaf ? votes.count : count
      guard (0..<limit).contains(Int(number)) else {
        throw malformed("node \(place) has \(isLeaf ? "leaf" : "node") \(number) as a child, but there are \(limit)")
      }
      guard isLeaf else { return Int(number) }
      leaves.append(.leaf(votes: Int(number)..<Int(number) + 1))
      return count + leaves.count - 1
    }
    var nodes: [TreeNode] = []
    nodes.reserveCapacity(3 * count)
    for place in 0..<count {
      let test: TreeTest
      var missingIsTrue = !missing.isEmpty && missing[place] != 0
      switch modes[place] {
      case 0: test = .atMost(splits[place])
      case 1: test = .below(splits[place])
      case 2: test = .atLeast(splits[place])
      case 3: test = .above(splits[place])
      case 4: test = .equal(splits[place])
      case 5:
        test = .unequal(splits[place])
        missingIsTrue = true
      case 6:
        guard let end = members.firstIndex(where: \.isNaN) else {
          throw malformed("membership_values has no set for node \(place)")
        }
        test = .member(of: Array(members[..<end]))
        members = members[(end + 1)...]
      case let other: throw unsupported("the mode of node \(place) is \(other)")
      }
      nodes.append(
        .branch(
          feature: Int(features[place]), test: test, missingIsTrue: missingIsTrue,
          ifTrue: try child(ifTrue[place], isLeaf: trueIsLeaf[place] != 0, of: place),
          ifFalse: try child(ifFalse[place], isLeaf: falseIsLeaf[place] != 0, of: place)))
    }
    return (nodes + leaves, votes)
  }

  private func tensor(_ name: String) throws(FormatError) -> Tensor {
    guard let tensor = node.attributes[name]?.tensor else { throw malformed("it has no \(name)") }
    return try tensor.read(files)
  }
}
