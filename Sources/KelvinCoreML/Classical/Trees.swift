import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  func treeEnsembleRegressor() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.TreeEnsembleRegressor
    typealias Transform = ClassicalSchema.TreeEnsemblePostEvaluationTransform
    let ensemble = try trees(Fields.treeEnsemble)
    let transform: ScoreTransform
    switch try parameters.integer(Fields.postEvaluationTransform) ?? 0 {
    case Transform.notransform: transform = .none
    case Transform.regressionLogistic: transform = .logistic
    case Transform.classificationSoftmax: transform = .softmax
    case let other: throw message.unknown("transform \(other) of a regressor")
    }
    return try stage(TreeScores(ensemble, transform))
  }

  /// Reads a classifier made of decision trees.
  ///
  /// The trees give a score for each class, or for each class but the first, whose score is then 0. With two classes
  /// they may give a single score, that of the second class, which the transform turns into a probability.
  func treeEnsembleClassifier() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.TreeEnsembleClassifier
    typealias Transform = ClassicalSchema.TreeEnsemblePostEvaluationTransform
    let ensemble = try trees(Fields.treeEnsemble)
    let labels = try labels(strings: Fields.stringClassLabels, integers: Fields.int64ClassLabels)
    let transform = try parameters.integer(Fields.postEvaluationTransform) ?? 0
    let scores: TreeScores
    switch (transform, labels.count - ensemble.targetCount) {
    case (Transform.notransform, 0): scores = TreeScores(ensemble)
    case (Transform.classificationSoftmax, 0): scores = TreeScores(ensemble, .softmax)
    case (Transform.regressionLogistic, 0): scores = TreeScores(ensemble, .logistic)
    case (Transform.notransform, 1) where labels.count == 2: scores = TreeScores(ensemble, outcome: .second)
    case (Transform.regressionLogistic, 1) where labels.count == 2:
      scores = TreeScores(ensemble, .logistic, outcome: .second)
    case (Transform.classificationSoftmaxwithzeroclassreference, 1):
      scores = TreeScores(ensemble, .softmax, outcome: .reference)
    default:
      throw message.unknown("transform \(transform) of \(ensemble.targetCount) numbers for \(labels.count) classes")
    }
    return try stage(scores, labels: labels)
  }

  /// Reads a `TreeEnsembleParameters` message.
  private func trees(_ field: Int) throws(FormatError) -> TreeEnsemble {
    typealias Fields = ClassicalSchema.TreeEnsembleParameters
    let owner = parameters.message
    func refusal(_ reason: String) -> FormatError { owner.malformed("trees", reason) }
    guard let message = try parameters.message(field) else { throw refusal("it has none") }
    var rows: [Row] = []
    var votes: [TreeVote] = []
    try message.each(Fields.nodes) { (field) throws(FormatError) in
      try field.check(rows.count, 1 << 26)
      rows.append(try Row(field.message(), &votes))
    }
    let count = try message.integer(Fields.numPredictionDimensions, default: 1)
    let base = try message.doubles(Fields.basePredictionValue)
    guard TreeEnsemble.isCredible(count, votes: votes.count), base.isEmpty || base.count == count else {
      throw refusal("\(count) numbers are predicted, \(base.count) are their base")
    }
    guard !rows.isEmpty else { throw refusal("they have no nodes") }
    let numbering = try TreeNumbering(trees: rows.map(\.tree), nodes: rows.map(\.node), refusal: refusal)
    var nodes: [TreeNode] = []
    for (place, row) in rows.enumerated() {
      guard let test = try row.test(message.message) else {
        nodes.append(.leaf(votes: row.votes))
        continue
      }
      nodes.append(
        .branch(
          feature: row.feature, test: test, missingIsTrue: row.missingIsTrue,
          ifTrue: try numbering.child(row.ifTrue, of: place), ifFalse: try numbering.child(row.ifFalse, of: place)))
    }
    return try numbering.ensemble(nodes, votes: votes, targetCount: count, base: base)
  }

  /// A `TreeNode` message, read in one pass because a file may have millions of them.
  private struct Row {
    var tree = 0
    var node = 0
    var behavior = 0
    var feature = 0
    var value = 0.0
    var ifTrue = 0
    var ifFalse = 0
    var missingIsTrue = false
    var votes: Range<Int>

    init(_ message: WireMessage, _ all: inout [TreeVote]) throws(FormatError) {
      typealias Fields = ClassicalSchema.TreeEnsembleParameters.TreeNode
      let start = all.count
      votes = start..<start
      var reader = message.fields()
      while let field = try reader.next() {
        switch field.number {
        case Fields.treeId: tree = try field.integer()
        case Fields.nodeId: node = try field.integer()
        case Fields.nodeBehavior: behavior = try field.integer()
        case Fields.branchFeatureIndex: feature = try field.integer()
        case Fields.branchFeatureValue: value = try field.double()
        case Fields.trueChildNodeId: ifTrue = try field.integer()
        case Fields.falseChildNodeId: ifFalse = try field.integer()
        case Fields.missingValueTracksTrueChild: missingIsTrue = try field.bool()
        case Fields.evaluationInfo: all.append(try Self.vote(field.message()))
        default: break
        }
      }
      votes = start..<all.count
    }

    private static func vote(_ message: WireMessage) throws(FormatError) -> TreeVote {
      typealias Fields = ClassicalSchema.TreeEnsembleParameters.TreeNode.EvaluationInfo
      var vote = TreeVote(0, 0)
      var reader = message.fields()
      while let field = try reader.next() {
        switch field.number {
        case Fields.evaluationIndex: vote.target = try field.integer()
        case Fields.evaluationValue: vote.weight = try field.double()
        default: break
        }
      }
      return vote
    }

    /// Returns the test of a branch node, or nil for a leaf.
    func test(_ message: WireMessage) throws(FormatError) -> TreeTest? {
      typealias Behavior = ClassicalSchema.TreeEnsembleParameters.TreeNode.TreeNodeBehavior
      switch behavior {
      case Behavior.branchonvaluelessthanequal: return .atMost(value)
      case Behavior.branchonvaluelessthan: return .below(value)
      case Behavior.branchonvaluegreaterthanequal: return .atLeast(value)
      case Behavior.branchonvaluegreaterthan: return .above(value)
      case Behavior.branchonvalueequal: return .equal(value)
      case Behavior.branchonvaluenotequal: return .unequal(value)
      case Behavior.leafnode: return nil
      default: throw message.unknown("behaviour \(behavior) of node \(node) of tree \(tree)")
      }
    }
  }
}
