extension ONNXNode {
  var hasGraphs: Bool { attributes.values.contains(where: \.hasGraphs) }

  /// The properties of an operator that only moves the elements of its operands, or depends on their number.
  struct Moves {
    /// The operands whose elements the operator moves; nil for all.
    var places: Set<Int>?
    var givesStrings = true
    /// Whether the operator tests strings for equality.
    var compares = false

    func operands(_ node: ONNXNode) -> Set<Int> {
      let all = Set(node.inputs.indices)
      return places.map(all.intersection) ?? all
    }

    /// Whether a node only moves elements.
    func takes(_ node: ONNXNode) -> Bool { node.attributes["reduction"]?.text ?? "none" == "none" }
  }

  static let movesStrings: [String: Moves] = {
    var moves: [String: Moves] = [:]
    for kind in [
      "CenterCropPad", "ConcatFromSequence", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements",
      "GatherND", "Identity", "Optional", "OptionalGetElement", "Reshape", "ReverseSequence", "SequenceAt",
      "SequenceErase", "Slice", "SpaceToDepth", "Split", "SplitToSequence", "Squeeze", "Tile", "Transpose", "Trilu",
      "Unsqueeze", "com.microsoft.ExpandDims", "com.microsoft.GatherND",
    ] { moves[kind] = Moves(places: [0]) }
    for kind in ["SequenceInsert", "TensorScatter"] { moves[kind] = Moves(places: [0, 1]) }
    for kind in ["Pad", "Scatter", "ScatterElements", "ScatterND"] { moves[kind] = Moves(places: [0, 2]) }
    moves["Where"] = Moves(places: [1, 2])
    moves["OneHot"] = Moves(places: [2])
    for kind in ["Concat", "SequenceConstruct"] { moves[kind] = Moves(places: nil) }
    for kind in [
      "NonZero", "OptionalHasElement", "RandomNormalLike", "RandomUniformLike", "SequenceLength", "Shape", "Size",
    ] { moves[kind] = Moves(places: [0], givesStrings: false) }
    moves["Equal"] = Moves(places: [0, 1], givesStrings: false, compares: true)
    return moves
  }()
}
